import { type Command, InvalidArgumentError } from "commander";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { instantOf, isCalendarDate, lackOf } from "../../shared/calendar.ts";
import { bbox } from "../import/density/box.ts";
import { problemText } from "../import/schema-problems.ts";

/** A box: west, south, east and north in degrees. */
export function boxOf(text: string): Box {
  const numbers = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (numbers.length !== 4 || numbers.some(Number.isNaN)) {
    throw new InvalidArgumentError("It must be four numbers of degrees: west,south,east,north.");
  }
  const parsed = bbox.safeParse(numbers);
  if (parsed.success) return parsed.data;
  const [first, second, third, fourth] = numbers;
  const isSwapped = bbox.safeParse([second, first, fourth, third]).success;
  const swapped = isSwapped ? " West,south,east,north: latitude and longitude swapped?" : "";
  const problems = new Set(parsed.error.issues.map((issue) => problemText(issue, numbers)));
  throw new InvalidArgumentError(`It ${[...problems].join("; ")}.${swapped}`);
}

/** What is said of a text that is no address of a service. */
export const addressForm =
  "must be the address of a service, such as https://api.example.com or http://127.0.0.1:3000";

/** The address of a service, without a slash at its end; undefined if the text is none. */
export function addressIn(text: string): string | undefined {
  return /^https?:\/\//.test(text) && URL.canParse(text) ? text.replace(/\/+$/, "") : undefined;
}

/** A whole number in a range. */
export function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** A date, `YYYY-MM-DD`. */
export function dateOf(text: string): string {
  if (isCalendarDate(text)) return text;
  throw new InvalidArgumentError("It must be a date of the calendar such as 2026-11-20.");
}

/** A point in time: an RFC 3339 date-time with a zone, as it is written. */
export function instantText(text: string): string {
  if (instantOf(text) !== undefined) return text;
  throw new InvalidArgumentError(
    `It ${lackOf(text) ?? "must be an RFC 3339 date-time with a zone, such as 2026-11-20T12:00:00Z"}.`,
  );
}

/** Where a service is, as every command of `ncs` is told: one of these. */
export interface StackOptions {
  /** The file with the outputs of a deployed stage. */
  readonly outputs?: string;
  /** The port, or `true` for that of the only one that runs. */
  readonly local?: number | true;
  /** Without a trailing slash. */
  readonly url?: string;
}

/** Adds the options of a command that works on the tables of a service: a deployed stage or `npm start`. */
export function withStackOptions(command: Command): Command {
  return withStage(command).option("--url <url>", "the address of that `npm start`, instead", addressOf);
}

/** Adds the options that name a service in two of three ways; the third is its address. */
export function withStage(command: Command): Command {
  return command
    .option("--outputs <file>", "a deployed stage: what `cdk deploy --outputs-file` wrote")
    .option("--local [port]", "the `npm start` that runs on this machine, instead of --outputs", portOf);
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be the port of an `npm start`.");
}

/** The address of a service, as an argument. */
export function addressOf(text: string): string {
  const address = addressIn(text);
  if (address === undefined) throw new InvalidArgumentError(`It ${addressForm}.`);
  return address;
}

/** Whether a host is this machine. */
export function isLoopback(hostname: string): boolean {
  return ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}
