// A syntax error in the second line.
export default async function syntax(task, cx { }
