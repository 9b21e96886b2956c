# An import that is not there, in the second line.
import nowhere
from flowhost import flow


@flow
def missing(task, cx):
    return nowhere.help()
