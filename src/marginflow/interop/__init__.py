"""Doors to other libraries; each is imported by its own name, so that nobody pays for what they do not use.

`marginflow.interop.torch`: networks to and from PyTorch modules and state dicts.
`marginflow.interop.foolbox`: networks as foolbox models with two logits.
"""
