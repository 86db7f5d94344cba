"""What exact arithmetic says: certificates in balls, and proofs that an exact KKT point is near."""
