"""[KYS23, Section 4.2] Without biases: Propositions 4.4, 4.5 and 4.6, with what is false in them and the repairs."""
