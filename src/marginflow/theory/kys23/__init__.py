"""[KYS23] From Tempered to Benign Overfitting in ReLU Neural Networks: one file per result, with its lemmas."""
