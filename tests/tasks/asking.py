"""Put one sentence to one task."""

from dataclasses import replace

from sentprobe.tasks import Context, Example, Task


class Anything:
    """A plan that lets every form be a target."""

    def __contains__(self, form):
        return True


def ask(task: Task, s, *, suite=None, reading=None, plan=None, state=0, language=None, **changes):
    policy = replace(task.policies[suite or next(iter(task.policies))], **changes)
    reading = reading or (policy.readings or tuple(task.readings))[0]
    return task.propose(s, Context(policy, reading, Anything() if plan is None else plan, state, language))


def label(*arguments, **named):
    found = ask(*arguments, **named)
    return found.label if isinstance(found, Example) else None


def reason(*arguments, **named):
    found = ask(*arguments, **named)
    assert isinstance(found, str)
    return found
