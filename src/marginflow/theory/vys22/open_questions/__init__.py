"""[VYS22, Sections 4, 6 and 7] Open questions: measured on small instances, with no pass or fail."""
