"""What the scripts that make golden values share: inputs by formula (the tests make the same ones), and digests."""

import textwrap

import torch

torch.set_default_dtype(torch.float64)


def wave(shape, phase, scale=1.0):
    """scale * sin(0.7 i + phase) in row-major order; tests/wave.h has the same."""
    count = int(torch.Size(shape).numel())
    return (scale * torch.sin(0.7 * torch.arange(count) + phase)).reshape(shape)


def digest(tensor):
    """The sum, and the sum against weights that no permutation keeps."""
    flat = tensor.detach().double().flatten()
    return float(flat.sum()), float((flat * torch.sin(1.3 * torch.arange(flat.numel()) + 0.5)).sum())


def header(script, what, namespace_name, entries):
    """A C++ header with a map from names to lists of numbers."""
    lines = [
        f"// {what}: made by tests/golden/{script} with PyTorch {torch.__version__.split('+')[0]}. Not edited by hand.",
        "#pragma once",
        "",
        "// clang-format off",
        "#include <map>",
        "#include <string>",
        "#include <vector>",
        "",
        f"inline const std::map<std::string, std::vector<double>> {namespace_name} = {{",
    ]
    for name, numbers in entries.items():
        text = ", ".join(repr(float(n)) for n in numbers)
        lines += textwrap.wrap(f'{{"{name}", {{{text}}}}},', 110, initial_indent="    ", subsequent_indent="        ")
    lines.append("};")
    return "\n".join(lines)
