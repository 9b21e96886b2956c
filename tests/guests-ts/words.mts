export const said: string = "words";
