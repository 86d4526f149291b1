"""Golden trajectories of SGD, Adam, AdamW and RMSprop, and rates of common schedules.

python3 tests/golden/common_optimizers.py > tests/optim/common_optimizer_values.h
"""

import torch
from torch import optim
from torch.optim import lr_scheduler as schedules

from golden import digest, header, states, wave

values = {}


def trajectory(name, make):
    """100 steps on mean((tanh(x a + b) - y)^2): digests of a, b and the states after 1, 10 and 100 of them."""
    a, b = wave((3, 4), 0.1).requires_grad_(), wave((4,), 0.2).requires_grad_()
    x, y = wave((5, 3), 0.3, 2.0), wave((5, 4), 0.4)
    optimizer = make(a, b)
    numbers = []
    for step in range(1, 101):
        optimizer.zero_grad()
        ((torch.tanh(x @ a + b) - y) ** 2).mean().backward()
        optimizer.step()
        if step in (1, 10, 100):
            numbers += [*digest(a), *digest(b)]
    values[name] = numbers
    states(values, name, optimizer, (a, b))


def both(cls, **options):
    return lambda a, b: cls([a, b], foreach=False, **options)


trajectory("sgd", both(optim.SGD, lr=0.1))
trajectory("sgd_decay", both(optim.SGD, lr=0.1, weight_decay=0.05))
trajectory("sgd_momentum", both(optim.SGD, lr=0.1, momentum=0.9))
trajectory("sgd_dampening", both(optim.SGD, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.01))
trajectory("sgd_nesterov", both(optim.SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01))
trajectory("sgd_maximize", both(optim.SGD, lr=0.01, momentum=0.5, maximize=True, weight_decay=0.1))
trajectory("adam", both(optim.Adam, lr=0.05))
trajectory("adam_decay", both(optim.Adam, lr=0.05, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1))
trajectory("adam_amsgrad", both(optim.Adam, lr=0.05, amsgrad=True, weight_decay=0.01))
trajectory("adamw", both(optim.AdamW, lr=0.05, weight_decay=0.1))
trajectory("adamw_amsgrad", both(optim.AdamW, lr=0.05, amsgrad=True))
trajectory("adamw_betas", both(optim.AdamW, lr=0.02, betas=(0.7, 0.9), eps=1e-3))
trajectory("adamw_maximize", both(optim.AdamW, lr=0.001, maximize=True, weight_decay=0.3))
trajectory("adam_maximize", both(optim.Adam, lr=0.001, maximize=True))
trajectory("rmsprop", both(optim.RMSprop, lr=0.01))
trajectory("rmsprop_momentum", both(optim.RMSprop, lr=0.01, momentum=0.9, alpha=0.9))
trajectory("rmsprop_centered", both(optim.RMSprop, lr=0.01, centered=True, weight_decay=0.02))
trajectory("rmsprop_all", both(optim.RMSprop, lr=0.005, centered=True, momentum=0.5, eps=1e-4))
trajectory(
    "groups",
    lambda a, b: optim.SGD([{"params": [a], "weight_decay": 0.1}, {"params": [b], "lr": 0.3}], lr=0.1, momentum=0.9),
)


def rates(name, make, cls=optim.SGD, **options):
    """The rate, and the momentum where it is cycled, of the first 60 steps, at every third one."""
    optimizer = cls([torch.nn.Parameter(torch.zeros(1))], lr=0.4, **options)
    schedule = make(optimizer)
    numbers = []
    for step in range(60):
        if step % 3 == 0:
            group = optimizer.param_groups[0]
            numbers.append(group["lr"])
            if name.startswith("one_cycle"):
                numbers.append(group["betas"][0] if "betas" in group else group["momentum"])
        optimizer.step()
        schedule.step()
    values[name] = numbers


def warmup(o):
    first = schedules.LinearLR(o, start_factor=0.1, total_iters=10)
    return schedules.SequentialLR(o, [first, schedules.CosineAnnealingLR(o, T_max=50)], milestones=[10])


rates("step_lr", lambda o: schedules.StepLR(o, step_size=7, gamma=0.5))
rates("cosine", lambda o: schedules.CosineAnnealingLR(o, T_max=40, eta_min=0.01))
rates("linear_warmup", lambda o: schedules.LinearLR(o, start_factor=1 / 3, total_iters=20))
rates("warmup_cosine", warmup)
rates("one_cycle", lambda o: schedules.OneCycleLR(o, max_lr=1.0, total_steps=60), momentum=0.9)
rates(
    "one_cycle_linear",
    lambda o: schedules.OneCycleLR(
        o, max_lr=0.5, total_steps=60, pct_start=0.5, anneal_strategy="linear", div_factor=10, final_div_factor=100
    ),
    cls=optim.Adam,
)

what = "Trajectories of SGD, Adam, AdamW and RMSprop, rates of common schedules"
print(header("common_optimizers.py", what, "kGolden", values))
