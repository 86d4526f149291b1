"""The training steps of bench/models.h in JAX: the whole step is one jitted function. Images are channels-last."""

import os

from measure import arguments, report

options = arguments(["jit"])
# XLA takes as many threads as there are cores that it may use.
os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[: options.threads]))

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(1)


def uniform(shape, fan_in):
    return jnp.asarray(rng.uniform(-1, 1, shape) / np.sqrt(fan_in), jnp.float32)


def normal(*shape):
    return jnp.asarray(rng.standard_normal(shape), jnp.float32)


def linear(inputs, outputs, bias=True):
    return {"w": uniform((inputs, outputs), inputs)} | ({"b": uniform((outputs,), inputs)} if bias else {})


def conv(inputs, outputs, size, bias):
    fan_in = inputs * size * size
    return {"w": uniform((size, size, inputs, outputs), fan_in)} | ({"b": uniform((outputs,), fan_in)} if bias else {})


def norm(width):
    return {"w": jnp.ones(width), "b": jnp.zeros(width)}


def affine(p, x):
    return x @ p["w"] + p.get("b", 0)


def convolve(p, x, stride=1, padding=1):
    y = jax.lax.conv_general_dilated(
        x, p["w"], (stride, stride), [(padding, padding)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return y + p["b"] if "b" in p else y


def batch_norm(p, x, statistics):
    """`statistics` collects the batch's mean and variance, from which the step updates the running ones."""
    mean, var = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
    statistics.append((mean, var * (x.size / x.shape[-1]) / (x.size / x.shape[-1] - 1)))
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * p["w"] + p["b"]


def max_pool(x, size, stride, padding=0):
    pads = [(0, 0), (padding, padding), (padding, padding), (0, 0)]
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, size, size, 1), (1, stride, stride, 1), pads)


def layer_norm(p, x):
    mean, var = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * p["w"] + p["b"]


def cross_entropy(logits, targets):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), targets[:, None], 1))


def mlp():
    parameters = {"hidden": linear(784, 256), "output": linear(256, 10)}

    def forward(p, x, _):
        return affine(p["output"], jax.nn.relu(affine(p["hidden"], x)))

    return parameters, [], forward, normal(64, 784), rng.integers(0, 10, 64)


def cnn():
    parameters = {"c1": conv(1, 16, 3, True), "n1": norm(16), "c2": conv(16, 32, 3, True), "n2": norm(32)}
    parameters["head"] = linear(32 * 7 * 7, 10)

    def forward(p, x, statistics):
        x = max_pool(jax.nn.relu(batch_norm(p["n1"], convolve(p["c1"], x), statistics)), 2, 2)
        x = max_pool(jax.nn.relu(batch_norm(p["n2"], convolve(p["c2"], x), statistics)), 2, 2)
        return affine(p["head"], x.reshape(x.shape[0], -1))

    return parameters, [16, 32], forward, normal(64, 28, 28, 1), rng.integers(0, 10, 64)


def resnet18():
    parameters = {"stem": conv(3, 64, 7, False), "stem_norm": norm(64), "blocks": [], "head": linear(512, 1000)}
    strides, widths, channels = [], [64], 64
    for number in range(8):
        out, stride = 64 << number // 2, 2 if number in (2, 4, 6) else 1
        block = {"c1": conv(channels, out, 3, False), "n1": norm(out), "c2": conv(out, out, 3, False), "n2": norm(out)}
        widths += [out, out]
        if stride != 1:
            block |= {"cd": conv(channels, out, 1, False), "nd": norm(out)}
            widths.append(out)
        parameters["blocks"].append(block)
        strides.append(stride)
        channels = out

    def run_block(p, x, stride, statistics):
        y = jax.nn.relu(batch_norm(p["n1"], convolve(p["c1"], x, stride), statistics))
        y = batch_norm(p["n2"], convolve(p["c2"], y), statistics)
        return jax.nn.relu(y + (batch_norm(p["nd"], convolve(p["cd"], x, stride, 0), statistics) if "cd" in p else x))

    def forward(p, x, statistics):
        x = jax.nn.relu(batch_norm(p["stem_norm"], convolve(p["stem"], x, 2, 3), statistics))
        x = max_pool(x, 3, 2, 1)
        for block, stride in zip(p["blocks"], strides):
            x = run_block(block, x, stride, statistics)
        return affine(p["head"], jnp.mean(x, (1, 2)))

    return parameters, widths, forward, normal(16, 64, 64, 3), rng.integers(0, 1000, 16)


def gpt(vocabulary=256, context=128, width=256, heads=4, layers=6):
    def layer():
        return {
            "norm1": norm(width),
            "norm2": norm(width),
            "qkv": linear(width, 3 * width),
            "out": linear(width, width),
            "up": linear(width, 4 * width),
            "down": linear(4 * width, width),
        }

    parameters = {"token": normal(vocabulary, width), "position": normal(context, width), "norm": norm(width)}
    parameters |= {"layers": [layer() for _ in range(layers)], "head": linear(width, vocabulary, False)}

    def start(path, p):
        return 0.02 * normal(*p.shape) if p.ndim > 1 else jnp.zeros_like(p) if path[-1].key == "b" else p

    parameters = jax.tree_util.tree_map_with_path(start, parameters)

    def run_layer(p, x):
        n, t, d = x.shape
        q, k, v = affine(p["qkv"], layer_norm(p["norm1"], x)).reshape(n, t, 3, heads, -1).transpose(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(d // heads)
        scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -jnp.inf)
        y = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(n, t, d)
        x = x + affine(p["out"], y)
        return x + affine(p["down"], jax.nn.gelu(affine(p["up"], layer_norm(p["norm2"], x)), approximate=False))

    def forward(p, tokens, _):
        x = p["token"][tokens] + p["position"]
        for one in p["layers"]:
            x = run_layer(one, x)
        return affine(p["head"], layer_norm(p["norm"], x)).reshape(-1, vocabulary)

    tokens, targets = rng.integers(0, vocabulary, (8, context)), rng.integers(0, vocabulary, 8 * context)
    return parameters, [], forward, jnp.asarray(tokens), targets


def sgd(parameters, gradients, state):
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], gradients)
    return jax.tree.map(lambda p, m: p - 0.01 * m, parameters, momentum), {"momentum": momentum}


def adamw(parameters, gradients, state):
    count = state["count"] + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], gradients)
    square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["square"], gradients)
    scale, root = 1e-3 / (1 - 0.9**count), jnp.sqrt(1 - 0.999**count)
    new = lambda p, m, v: p * (1 - 1e-3 * 1e-2) - scale * m / (jnp.sqrt(v) / root + 1e-8)
    return jax.tree.map(new, parameters, mean, square), {"mean": mean, "square": square, "count": count}


def main():
    models = {"mlp": mlp, "cnn": cnn, "resnet18": resnet18, "gpt": gpt}
    parameters, widths, forward, x, targets = models[options.model]()
    targets = jnp.asarray(targets)
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    if options.model in ("mlp", "resnet18"):
        update, state = sgd, {"momentum": zeros}
    else:
        square = jax.tree.map(jnp.zeros_like, parameters)
        update, state = adamw, {"mean": zeros, "square": square, "count": jnp.zeros(())}
    running = [(jnp.zeros(width), jnp.ones(width)) for width in widths]

    def loss_of(p):
        statistics = []
        return cross_entropy(forward(p, x, statistics), targets), statistics

    def train(parameters, state, running):
        (loss, statistics), gradients = jax.value_and_grad(loss_of, has_aux=True)(parameters)
        parameters, state = update(parameters, gradients, state)
        return parameters, state, jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, running, statistics), loss

    # Compiled before the first step, so that the memory of the compiler does not count.
    train = jax.jit(train, donate_argnums=(0, 1, 2)).lower(parameters, state, running).compile()
    held = [parameters, state, running]

    def step():
        *held[:], loss = train(*held)
        return loss.block_until_ready()

    report("jax", options, step)


main()
