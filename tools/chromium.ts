import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Browser } from "playwright-core";

/** The names under which Chromium is installed. */
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/** Chromium on this machine: the one that `CHROMIUM_PATH` names, or one on the path; undefined without any. */
export function findChromium(): string | undefined {
  const { CHROMIUM_PATH, PATH = "" } = process.env;
  if (CHROMIUM_PATH) return CHROMIUM_PATH;
  const folders = PATH.split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** Starts a browser without a window, whose graphics need no hardware. */
export async function startChromium(executablePath: string): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  return await chromium.launch({
    executablePath,
    // Containers have no user namespaces for its sandbox, and the pages are ours.
    chromiumSandbox: false,
    // Only WebGL is drawn as graphics hardware would: the rest of a page costs less without.
    args: [
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--disable-gpu-compositing",
      "--disable-gpu-rasterization",
    ],
  });
}
