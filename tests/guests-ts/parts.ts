// What kinds.ts imports: types, and values under the names that a compiler would give the file.
export interface Named {
  name: string;
}

export type Shape = { kind: "square"; side: number } | { kind: "circle"; radius: number };

export function area(shape: Shape): number {
  switch (shape.kind) {
    case "square":
      return shape.side ** 2;
    case "circle":
      return Math.PI * shape.radius ** 2;
  }
}

export const made = <T,>(value: T): T => value;

export default class Stack<T> {
  private readonly values: T[] = [];
  push(value: T): void {
    this.values.push(value);
  }
  get size(): number {
    return this.values.length;
  }
}
