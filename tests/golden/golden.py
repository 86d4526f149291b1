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


def states(values, name, optimizer, parameters):
    """What an optimizer keeps of each parameter, by the parameter's number and PyTorch's name."""
    for number, parameter in enumerate(parameters):
        for key, state in optimizer.state[parameter].items():
            if torch.is_tensor(state) and state.dim() > 0:
                values[f"{name}.{number}.{key}"] = digest(state)


def header(script, what, name, entries):
    """A C++ header with a map from names to lists of numbers."""
    version = torch.__version__.split("+")[0]
    origin = f"// {what}: made by tests/golden/{script} with PyTorch {version}. Not edited by hand."
    lines = [
        *textwrap.wrap(origin, 120, subsequent_indent="// "),
        "#pragma once",
        "",
        '#include "tests/golden.h"',
        "",
        "// clang-format off",
        f"inline constexpr weft::testing::GoldenEntry {name}Entries[] = {{",
    ]
    for key, numbers in entries.items():
        text = ", ".join(repr(float(n)) for n in numbers)
        lines += textwrap.wrap(f'{{"{key}", {{{text}}}}},', 110, initial_indent="    ", subsequent_indent="        ")
    lines += ["};", "// clang-format on", f"inline const auto {name} = weft::testing::golden_values({name}Entries);"]
    return "\n".join(lines)
