"""[KYS23] Open questions: measured, never decided."""
