// Never done being imported.
for (;;);
export default async function loops() {}
