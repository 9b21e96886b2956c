// Types of every kind that TypeScript has and that say nothing at run time.
import type { Context, Manifest } from "flowhost";
import { type Json, log } from "flowhost";
import type * as Parts from "./parts.ts";
import Stack, { type Shape, area, type Named as Called } from "./parts.ts";
import { made } from "./parts.js";
import { said } from "./words.mjs";
import { port } from "./settings";
import data from "./data.json" with { type: "json" };

export type { Shape } from "./parts.ts";
export { type Called, area };

export const manifest = { agents: {}, envs: {} } satisfies Manifest;

declare const nowhere: number;
declare function never(): void;
declare module "flowhost" {
  interface Usage {
    ofFlow?: number;
  }
}
declare global {
  interface Array<T> {
    ofFlow?: T;
  }
}
declare enum Absent {
  A,
}
declare namespace Away {
  const x: number;
}

type Keys<T> = { readonly [K in keyof T]?: T[K] extends infer U ? U : never };
type Getters<T> = { [K in keyof T as `get${Capitalize<string & K>}`]-?: () => T[K] };
type Tuple = [first: string, second?: number, ...rest: boolean[]];
interface Point extends Keys<{ x: number }> {
  y: number;
  [more: string]: unknown;
  new (x: number): Point;
  (x: number): string;
  method<T>(this: Point, value: T): asserts value is NonNullable<T>;
}

abstract class Animal<T extends object = {}> implements Parts.Named {
  static readonly tag: unique symbol = Symbol();
  declare readonly age?: number;
  static #count: number = 0;
  protected readonly legs?: number = 4;
  private owner!: string;
  [key: string]: unknown;
  accessor = 1;
  constructor(public_: string, readonly_?: T);
  constructor(public_: string);
  constructor(name: string, options?: T) {
    this.name = name;
    Animal.#count += options === undefined ? 1 : 2;
  }
  public name: string;
  abstract speak(loud?: boolean): string;
  abstract get sound(): string;
  static get count(): number {
    return Animal.#count;
  }
  protected override?(): void;
  async *walk<const N extends number>(this: Animal, steps: N): AsyncGenerator<N, void, undefined> {
    for (let at = 0; at < steps; at++) yield at as N;
  }
}

class Dog extends Animal<{ age: number }> {
  override speak(loud: boolean = false): string {
    return loud ? this.sound.toUpperCase() : this.sound;
  }
  public override get sound(): string {
    return "woof";
  }
}

function pick(value: string): string;
function pick(value: number): number;
function pick(value: string | number): string | number {
  return value;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

const identity = <T,>(value: T): T => value;
const longer = async <T extends { length: number }>(
  one: T,
  other: T,
): Promise<
  T
> => (one.length > other.length ? one : other);
const typed: (value: number) => number = (value): number => value + 1;
const optional = (one?: number, { two = 2 }: { two?: number } = {}, ...rest: number[]): number => (one ?? 1) + two + rest.length;

export default async function kinds(task: string, cx: Context): Promise<Json> {
  const dog: Dog = new Dog("rex" as string, undefined!);
  const steps: number[] = [];
  for await (const step of dog.walk(3 as const)) steps.push(step!);
  let later!: number;
  later = 1;
  const value = (task as unknown as { length: number }).length
  type Local = string
  ;(later as number) += 1;
  const made_ = made<string>("x") satisfies string;
  const box = new Map<string, Array<number>>([["a", [1]]]);
  const template: `${string}-${number}` = `a-${box.get("a")![0]!}`;
  const call = identity<typeof typed>(typed)(1);
  const instance = identity<string>;
  try {
    throw new Error("caught");
  } catch (error: unknown) {
    log((error as Error).message);
  }
  const less = value < 3 && value > 1;
  const shape: Shape = { kind: "square", side: 3 };
  const stack = new Stack<number>();
  stack.push(1);
  return {
    value, later, made: made_, template, call, less, area: area(shape), stack: stack.size,
    steps, dog: [dog.speak(), dog.speak(true), dog.name, Animal.count], picked: [pick("a"), pick(1)], text: isText(""),
    longer: await longer("ab", "a"), optional: optional(undefined, {}, 1), instance: instance("i"),
    said, port: port({ port: 80 }), data: (data as { list: number[] }).list,
  };
}
