"""The list of scenarios. Each is a function that gets a Space (cluster.py); its decorator adds it to the list."""

SCENARIOS = []


class Scenario:
    def __init__(self, name, run, alone, kind):
        self.name = name
        self.run = run
        self.kind = kind # the kind of the jobs in its space
        self.alone = alone # it disturbs the others, so it runs after them


def scenario(alone=False, kind="TFJob", **cases):
    """Register a function as a scenario. With cases, register one scenario per case, which gets the arguments of the case."""
    def register(run):
        name = run.__name__.replace("_", "-")
        if not cases:
            SCENARIOS.append(Scenario(name, run, alone, kind))
        for case, arguments in cases.items():
            of_case = f"{name}-{case}".replace("_", "-").lower()
            SCENARIOS.append(Scenario(of_case, lambda space, a=arguments: run(space, *a), alone, kind))
        return run
    return register
