import { once } from "node:events";
import type { Page } from "playwright-core";
import { findChromium, startChromium } from "../chromium.ts";
import { type Bench, median, type Row } from "./bench.ts";
import { startService } from "./local-service.ts";

const maxReadyMilliseconds = 8_000;
const maxHourMilliseconds = 1_000;
const hours = 10;
const timeout = 120_000;

/** How long the map of the console takes in a browser without graphics hardware. */
export const consolePage: Bench = {
  about: [
    "The console of `npm start` in Chromium without a window, whose graphics are computed by SwiftShader.",
    "“Ready” is the time from the login to the map with all cells of its first example, the median of three pages; each has",
    "an empty cache. “An hour” is the time from the key on the slider until the map has drawn the hour and is idle, the",
    `median of ${hours}. The page itself counts what was drawn.`,
  ].join("\n"),
  run: async () => {
    const executablePath = findChromium();
    if (executablePath === undefined) throw new Error("Chromium was not found: name it in CHROMIUM_PATH");
    const service = await startService();
    const browser = await startChromium(executablePath);
    const end = () => service.process.kill();
    process.once("exit", end);
    try {
      const ready: number[] = [];
      let page: Page | undefined;
      for (let turn = 0; turn < 3; turn++) {
        await page?.context().close();
        page = await (await browser.newContext({ viewport: { width: 1360, height: 850 } })).newPage();
        ready.push(await timeToReady(page, service.url));
      }
      if (page === undefined) throw new Error("no page was opened");
      const cells = Number(await page.getAttribute("#map", "data-coloured-cells"));
      return [
        { what: "cells of the example that have a colour", measured: String(cells), holds: true },
        row("ready", median(ready), maxReadyMilliseconds),
        row("an hour", median(await timesOfHours(page)), maxHourMilliseconds),
      ];
    } finally {
      await browser.close();
      process.off("exit", end);
      const ended = once(service.process, "exit");
      end();
      await ended;
    }
  },
};

async function timeToReady(page: Page, url: string): Promise<number> {
  await page.goto(url);
  await page.waitForSelector("#login[open]");
  const started = performance.now();
  await page.click("#login button");
  await page.waitForSelector('#map[data-coloured-cells]:not([data-coloured-cells="0"])', { timeout });
  return performance.now() - started;
}

async function timesOfHours(page: Page): Promise<number[]> {
  const times: number[] = [];
  await page.focus("#timeline input");
  for (let hour = 1; hour <= hours; hour++) {
    const started = performance.now();
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector(`#map[data-drawn-hour="${hour}"]`, { timeout });
    times.push(performance.now() - started);
  }
  return times;
}

function row(what: string, milliseconds: number, max: number): Row {
  return {
    what,
    measured: `${Math.round(milliseconds)} ms`,
    bar: `≤ ${max} ms`,
    holds: milliseconds <= max,
  };
}
