"""Golden trajectories of the optimizers that common_optimizers.py does not have.

python3 tests/golden/optimizers.py > tests/optim/optimizer_values.h
"""

import math

import numpy as np
import torch
from torch import optim
from torch.optim.lbfgs import _strong_wolfe

from golden import digest, header, states, wave

values = {}
SHOWN = (1, 10, 25)


def problem(ridge=0.0):
    """mean((tanh(x a + b) - y)^2), as in common_optimizers.py; with a ridge it has a minimum at a finite distance."""
    a, b = wave((3, 4), 0.1).requires_grad_(), wave((4,), 0.2).requires_grad_()
    x, y = wave((5, 3), 0.3, 2.0), wave((5, 4), 0.4)
    return a, b, lambda: ((torch.tanh(x @ a + b) - y) ** 2).mean() + ridge * ((a**2).sum() + (b**2).sum())


def trajectory(name, cls, **options):
    """25 steps; the digests of a and b after 1, 10 and 25 of them, and of the states then. Muon's are of a alone."""
    full_batch, takes_foreach = cls is optim.LBFGS, cls not in (optim.LBFGS, optim.Muon)
    a, b, loss = problem(0.01 if full_batch else 0.0)
    parameters = [a] if cls is optim.Muon else [a, b]
    optimizer = cls(parameters, **({"foreach": False} if takes_foreach else {}), **options)
    numbers = []

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    for step in range(1, 26):
        optimizer.step(closure)
        if step in SHOWN:
            numbers += [*digest(a), *digest(b)]
    values[name] = numbers
    if not full_batch:
        states(values, name, optimizer, parameters)


def by_hand(name, update, names=("a", "b")):
    """The same with a formula in NumPy: update(p, g, state, t) gives the new p."""
    a, b, loss = problem()
    parameters = {"a": a, "b": b}
    kept_of = {n: {} for n in names}
    numbers = []
    for step in range(1, 26):
        a.grad = b.grad = None
        loss().backward()
        for n in names:
            p = parameters[n]
            new = update(p.detach().numpy().copy(), p.grad.numpy().copy(), kept_of[n], step)
            p.data.copy_(torch.from_numpy(new))
        if step in SHOWN:
            numbers += [*digest(a), *digest(b)]
    values[name] = numbers
    for number, n in enumerate(names):
        for key, state in kept_of[n].items():
            kept = {"m": "exp_avg", "v": "exp_avg_sq", "b": "momentum_buffer"}[key]
            values[f"{name}.{number}.{kept}"] = digest(torch.from_numpy(state))


def moment(state, name, decay, value):
    state[name] = decay * state.get(name, 0) + (1 - decay) * value
    return state[name]


def lion(lr, beta1=0.9, beta2=0.99, decay=0.0, sign=1):
    def update(p, g, state, t):
        g = sign * g
        mixed = beta1 * state.get("m", 0) + (1 - beta1) * g
        moment(state, "m", beta2, g)
        return p * (1 - lr * decay) - lr * np.sign(mixed)

    return update


def lamb(lr, beta1=0.9, beta2=0.999, eps=1e-6, decay=0.01, sign=1):
    def update(p, g, state, t):
        g = sign * g
        m = moment(state, "m", beta1, g) / (1 - beta1**t)
        v = moment(state, "v", beta2, g * g) / (1 - beta2**t)
        u = m / (np.sqrt(v) + eps) + decay * p
        norms = np.linalg.norm(p), np.linalg.norm(u)
        return p - lr * (norms[0] / norms[1] if min(norms) > 0 else 1) * u

    return update


def muon(lr, decay=0.1, momentum=0.95, nesterov=True, steps=5, match=False, sign=1):
    def update(p, g, state, t):
        g = sign * g
        buffer = moment(state, "b", momentum, g)
        u = momentum * buffer + (1 - momentum) * g if nesterov else buffer
        u = u / max(np.linalg.norm(u), 1e-7)
        for _ in range(steps):
            y = u @ u.T
            u = 3.4445 * u + (-4.7750 * y + 2.0315 * y @ y) @ u
        rows, columns = p.shape
        ratio = 0.2 * math.sqrt(max(rows, columns)) if match else math.sqrt(max(1, rows / columns))
        return p * (1 - lr * decay) - lr * ratio * u

    return update


trajectory("adagrad", optim.Adagrad, lr=0.1)
trajectory("adagrad_decay", optim.Adagrad, lr=0.1, lr_decay=0.1, weight_decay=0.05)
trajectory("adagrad_initial", optim.Adagrad, lr=0.3, initial_accumulator_value=0.2, eps=1e-3)
trajectory("adagrad_maximize", optim.Adagrad, lr=0.01, maximize=True)
trajectory("adadelta", optim.Adadelta)
trajectory("adadelta_rho", optim.Adadelta, lr=0.5, rho=0.7, eps=1e-3)
trajectory("adadelta_decay", optim.Adadelta, lr=2.0, weight_decay=0.1)
trajectory("adadelta_maximize", optim.Adadelta, lr=0.1, maximize=True)
trajectory("adamax", optim.Adamax, lr=0.05)
trajectory("adamax_betas", optim.Adamax, lr=0.05, betas=(0.7, 0.9), eps=1e-3)
trajectory("adamax_decay", optim.Adamax, lr=0.02, weight_decay=0.2)
trajectory("adamax_maximize", optim.Adamax, lr=0.005, maximize=True)
trajectory("nadam", optim.NAdam, lr=0.05)
trajectory("nadam_betas", optim.NAdam, lr=0.05, betas=(0.8, 0.95), eps=1e-3, momentum_decay=0.05)
trajectory("nadam_decay", optim.NAdam, lr=0.02, weight_decay=0.1)
trajectory("nadam_decoupled", optim.NAdam, lr=0.02, weight_decay=0.1, decoupled_weight_decay=True)
trajectory("nadam_maximize", optim.NAdam, lr=0.005, maximize=True)
trajectory("radam", optim.RAdam, lr=0.05)
trajectory("radam_betas", optim.RAdam, lr=0.05, betas=(0.8, 0.9), eps=1e-3)
trajectory("radam_decay", optim.RAdam, lr=0.02, weight_decay=0.1)
trajectory("radam_decoupled", optim.RAdam, lr=0.02, weight_decay=0.1, decoupled_weight_decay=True)
trajectory("radam_maximize", optim.RAdam, lr=0.005, maximize=True)
trajectory("asgd", optim.ASGD, lr=0.1)
trajectory("asgd_lambd", optim.ASGD, lr=0.1, lambd=0.1, alpha=0.5)
trajectory("asgd_decay", optim.ASGD, lr=0.2, weight_decay=0.1, t0=5)
trajectory("asgd_maximize", optim.ASGD, lr=0.01, maximize=True)
trajectory("rprop", optim.Rprop)
trajectory("rprop_etas", optim.Rprop, lr=0.05, etas=(0.3, 1.5))
trajectory("rprop_sizes", optim.Rprop, lr=0.05, step_sizes=(1e-3, 0.08))
trajectory("rprop_maximize", optim.Rprop, lr=0.001, maximize=True, step_sizes=(1e-6, 0.01))
trajectory("adafactor", optim.Adafactor, lr=0.1)
trajectory("adafactor_decay", optim.Adafactor, lr=0.05, beta2_decay=-0.5, weight_decay=0.1)
trajectory("adafactor_d", optim.Adafactor, lr=0.2, d=1.5, eps=(1e-3, 0.1))
trajectory("adafactor_maximize", optim.Adafactor, lr=0.01, maximize=True)
by_hand("lion", lion(0.01))
by_hand("lion_betas", lion(0.02, 0.8, 0.9))
by_hand("lion_decay", lion(0.01, decay=0.5))
by_hand("lion_maximize", lion(0.002, sign=-1))
by_hand("lamb", lamb(0.01))
by_hand("lamb_betas", lamb(0.02, 0.8, 0.95, 1e-3))
by_hand("lamb_decay", lamb(0.01, decay=0.3))
by_hand("lamb_maximize", lamb(0.001, decay=0, sign=-1))
by_hand("muon", muon(0.02), ("a",))
by_hand("muon_plain", muon(0.05, 0.0, 0.8, False, 3), ("a",))
by_hand("muon_match", muon(0.05, 0.5, match=True), ("a",))
by_hand("muon_maximize", muon(0.002, sign=-1), ("a",))
trajectory("muon_bf16", optim.Muon, lr=0.02)
trajectory("muon_bf16_match", optim.Muon, lr=0.05, weight_decay=0.5, adjust_lr_fn="match_rms_adamw")
trajectory("lbfgs", optim.LBFGS, lr=0.3, max_iter=2)
trajectory("lbfgs_history", optim.LBFGS, lr=0.5, max_iter=3, history_size=2)
trajectory("lbfgs_search", optim.LBFGS, max_iter=2, line_search_fn="strong_wolfe")
trajectory("lbfgs_search_long", optim.LBFGS, lr=3.0, max_iter=4, history_size=3, line_search_fn="strong_wolfe")



def line_search(name, f, first, most):
    """Length, loss and number of evaluations, where f(x) gives a loss and its slope."""
    evaluate = lambda x, t, d: (f(float(t))[0], torch.tensor([f(float(t))[1]], dtype=torch.float64))
    loss, gradient = evaluate(None, 0.0, None)
    direction = torch.ones(1, dtype=torch.float64)
    loss, _, length, count = _strong_wolfe(
        evaluate, None, first, direction, loss, gradient, gradient.dot(direction), max_ls=most)
    values[name] = [float(length), float(loss), count]


def wave_line(a, b, w, p):
    return lambda x: (a * (x - b) ** 2 + math.sin(w * x + p), 2 * a * (x - b) + w * math.cos(w * x + p))


def dent(x):
    """Falls by 1e-5 at once; then less than a step must fall."""
    return -1e-5 * (1 - math.exp(-x / 1e-5)) + 1e-5 * (x - 0.4) ** 2, -math.exp(-x / 1e-5) + 2e-5 * (x - 0.4)


line_search("line_ends", wave_line(0.5, 3, 3, 0.5), 0.1, 3)
line_search("line_none", wave_line(0.5, 3, 3, 0.5), 0.1, 0)
line_search("line_upper", wave_line(0.75, 3.1, 6.5, 0.95), 0.82, 2)
line_search("line_lower", wave_line(1.8, 5.5, 19.4, 5.8), 9.86, 3)
for most in (2, 4, 25):
    line_search(f"line_dent_{most}", dent, 1.0, most)

print(header("optimizers.py", "Trajectories of other optimizers", "kTrajectories", values))
