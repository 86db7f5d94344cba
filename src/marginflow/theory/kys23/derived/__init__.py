"""Results that build on [KYS23] and are not in it."""
