# Never done being imported.
from flowhost import flow

while True:
    pass


@flow
def loops(task, cx):
    return task
