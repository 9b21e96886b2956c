# A syntax error in the second line.
def syntax(task, cx:
    return task
