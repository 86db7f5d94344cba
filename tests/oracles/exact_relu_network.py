"""A slow, exact ReLU network: rational arithmetic, plain loops, derivatives by dual numbers (no backpropagation).

It shares nothing with the library: layers are lists of rows, every float is an exact fraction, and each partial
derivative is one forward pass with that parameter's derivative set to 1.
"""

from fractions import Fraction


def exact_layers(layers):
    """Arrays (W, b) as nested lists of fractions."""
    return [
        ([[Fraction(float(w)) for w in row] for row in W], None if b is None else [Fraction(float(e)) for e in b])
        for W, b in layers
    ]


def value(layers, x):
    """N(x), exactly."""
    signal = [Fraction(float(entry)) for entry in x]
    for index, (W, b) in enumerate(layers):
        signal = [
            sum((w * h for w, h in zip(row, signal, strict=True)), Fraction(0) if b is None else b[j])
            for j, row in enumerate(W)
        ]
        if index < len(layers) - 1:
            signal = [max(z, Fraction(0)) for z in signal]
    return signal[0]


def partial(layers, x, where, kink):
    """The derivative of N(x) by one entry: where = (layer, row, column), column None for the bias; or ("x", column)."""
    signal = [(Fraction(float(entry)), Fraction(int(where == ("x", i)))) for i, entry in enumerate(x)]
    for index, (W, b) in enumerate(layers):
        after = []
        for j, row in enumerate(W):
            z = Fraction(0) if b is None else b[j]
            dz = Fraction(int(where == (index, j, None)))
            for i, w in enumerate(row):
                h, dh = signal[i]
                z += w * h
                dz += w * dh + (h if where == (index, j, i) else 0)
            if index < len(layers) - 1:
                slope = Fraction(kink) if z == 0 else Fraction(int(z > 0))
                z, dz = max(z, Fraction(0)), slope * dz
            after.append((z, dz))
        signal = after
    return signal[0][1]


def gradient(layers, X, weights, kink=0.0):
    """Derivatives of sum_i weights_i N(x_i) as a list of (dW, db), exactly."""
    g = [Fraction(float(weight)) for weight in weights]

    def total(where):
        return sum((gi * partial(layers, x, where, kink) for gi, x in zip(g, X, strict=True)), Fraction(0))

    return [
        (
            [[total((index, j, i)) for i in range(len(W[0]))] for j in range(len(W))],
            None if b is None else [total((index, j, None)) for j in range(len(W))],
        )
        for index, (W, b) in enumerate(layers)
    ]


def input_gradient(layers, x, kink=0.0):
    """The derivative of N at x by each coordinate, exactly."""
    return [partial(layers, x, ("x", i), kink) for i in range(len(x))]


def absolute_value(layers, x):
    """The value of the network of absolute values at |x|: the scale of the rounding error at x."""
    bare = [([[abs(w) for w in row] for row in W], None if b is None else [abs(e) for e in b]) for W, b in layers]
    return value(bare, [abs(float(entry)) for entry in x])
