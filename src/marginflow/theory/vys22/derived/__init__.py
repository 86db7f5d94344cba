"""[VYS22] What follows from the paper's proofs but is not printed: closed form, certificate, sharp step, floor."""
