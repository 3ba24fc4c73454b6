"""The list of scenarios: each is a function of a space (cluster.py), named in a table by its decorator."""

SCENARIOS = []


class Scenario:
    def __init__(self, name, run, alone, kind):
        self.name = name
        self.run = run
        self.kind = kind # of the jobs in its space
        self.alone = alone # disturbs the others, so it is run after them, by itself


def scenario(alone=False, kind="TFJob", **cases):
    """Register a function as a scenario; with cases, one for each, which get the case's arguments."""
    def register(run):
        name = run.__name__.replace("_", "-")
        if not cases:
            SCENARIOS.append(Scenario(name, run, alone, kind))
        for case, arguments in cases.items():
            of_case = f"{name}-{case}".replace("_", "-").lower()
            SCENARIOS.append(Scenario(of_case, lambda space, a=arguments: run(space, *a), alone, kind))
        return run
    return register
