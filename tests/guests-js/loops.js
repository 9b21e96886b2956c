for (;;);
export default function () {}
