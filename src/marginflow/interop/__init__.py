"""Doors to other libraries; each is imported by its own name, so that nobody pays for what they do not use.

`marginflow.interop.torch`: networks to and from PyTorch modules and state dicts.
`marginflow.interop.onnx`: networks to and from ONNX graphs.
`marginflow.interop.files`: somebody's network from a file of any of these formats.
`marginflow.interop.sklearn`: max-margin ReLU networks as a scikit-learn classifier.
`marginflow.interop.foolbox`: networks as foolbox models with two logits.
"""
