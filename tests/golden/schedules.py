"""Golden rates of schedules: python3 tests/golden/schedules.py > tests/optim/schedule_values.h"""

import math

import torch
from torch import optim
from torch.optim import lr_scheduler as schedules

from golden import digest, header

values = {}


def rates(name, make, metric=None, momentum=None, cls=optim.SGD, **options):
    """The rates of the first 60 steps (and the momenta where they are cycled): every sixth, and the digest of all."""
    optimizer = cls([torch.nn.Parameter(torch.zeros(1))], lr=0.4, **options)
    schedule = make(optimizer)
    numbers, momenta = [], []
    for step in range(60):
        group = optimizer.param_groups[0]
        numbers.append(group["lr"])
        if momentum:
            momenta.append(group["betas"][0] if "betas" in group else group["momentum"])
        optimizer.step()
        schedule.step(*([metric(step)] if metric else []))
    values[name] = []
    for series in (numbers, momenta) if momentum else (numbers,):
        values[name] += [*series[::6], *digest(torch.tensor(series))]


rates("multi_step", lambda o: schedules.MultiStepLR(o, [4, 17, 18, 40], gamma=0.3))
rates("multi_step_default", lambda o: schedules.MultiStepLR(o, [30]))
rates("constant", lambda o: schedules.ConstantLR(o))
rates("constant_long", lambda o: schedules.ConstantLR(o, factor=0.05, total_iters=33))
rates("linear", lambda o: schedules.LinearLR(o))
rates("linear_down", lambda o: schedules.LinearLR(o, start_factor=1.0, end_factor=0.1, total_iters=45))
rates("exponential", lambda o: schedules.ExponentialLR(o, gamma=0.93))
rates("exponential_up", lambda o: schedules.ExponentialLR(o, gamma=1.02))
rates("polynomial", lambda o: schedules.PolynomialLR(o))
rates("polynomial_square", lambda o: schedules.PolynomialLR(o, total_iters=50, power=2.0))
rates("warm_restarts", lambda o: schedules.CosineAnnealingWarmRestarts(o, 7))
rates("warm_restarts_double", lambda o: schedules.CosineAnnealingWarmRestarts(o, 5, T_mult=2, eta_min=0.01))
rates("warm_restarts_triple", lambda o: schedules.CosineAnnealingWarmRestarts(o, 3, T_mult=3))
rates("one_cycle_three", lambda o: schedules.OneCycleLR(o, 1.0, 60, three_phase=True), momentum=True)
rates("cyclic", lambda o: schedules.CyclicLR(o, 0.01, 0.2, 8), momentum=True)
rates("cyclic_half", lambda o: schedules.CyclicLR(o, 0.01, 0.2, 5, 11, mode="triangular2"), momentum=True)
rates(
    "cyclic_exp",
    lambda o: schedules.CyclicLR(o, 0.1, 0.3, 6, mode="exp_range", gamma=0.97, base_momentum=0.7, max_momentum=0.95),
    momentum=True,
    cls=optim.Adam,
)
rates("cyclic_rate", lambda o: schedules.CyclicLR(o, 0.0, 0.2, 20, 3, cycle_momentum=False))
rates("lambda", lambda o: schedules.LambdaLR(o, lambda step: 1 / math.sqrt(1 + step)))
rates("multiplicative", lambda o: schedules.MultiplicativeLR(o, lambda step: 0.9 + 0.1 * math.sin(step)))
rates(
    "sequential",
    lambda o: schedules.SequentialLR(
        o,
        [
            schedules.ConstantLR(o, factor=0.1, total_iters=4),
            schedules.ExponentialLR(o, gamma=0.9),
            schedules.StepLR(o, step_size=5, gamma=0.5),
        ],
        milestones=[6, 30],
    ),
)
rates(
    "chained",
    lambda o: schedules.ChainedScheduler(
        [schedules.ConstantLR(o, factor=0.1, total_iters=20), schedules.ExponentialLR(o, gamma=0.95)]
    ),
)
rates(
    "chained_three",
    lambda o: schedules.ChainedScheduler(
        [
            schedules.LinearLR(o, total_iters=12),
            schedules.MultiStepLR(o, [10, 30], gamma=0.5),
            schedules.PolynomialLR(o, total_iters=80),
        ]
    ),
)


def metric(step):
    return 1 / (1 + 0.2 * min(step, 20)) + 0.05 * math.sin(step)


rates("plateau", lambda o: schedules.ReduceLROnPlateau(o, patience=3), metric)
rates("plateau_factor", lambda o: schedules.ReduceLROnPlateau(o, factor=0.5, patience=1, cooldown=2, min_lr=0.02), metric)
rates(
    "plateau_absolute",
    lambda o: schedules.ReduceLROnPlateau(o, factor=0.7, patience=0, threshold=0.02, threshold_mode="abs"),
    metric,
)
rates(
    "plateau_max",
    lambda o: schedules.ReduceLROnPlateau(o, mode="max", factor=0.5, patience=4, threshold=1e-2),
    lambda step: -metric(step) + 2,
)
rates("plateau_eps", lambda o: schedules.ReduceLROnPlateau(o, patience=1, eps=0.01), lambda step: 1.0)

print(header("schedules.py", "Rates of schedules", "kRates", values))
