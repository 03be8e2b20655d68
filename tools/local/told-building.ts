import type { Building } from "../build.ts";
import { startBar } from "../cli/progress.ts";

/**
 * Says what is built while somebody waits for it: a bar where standard error is a terminal, otherwise one line.
 * @param say writes the line.
 */
export function toldBuilding(isTerminal: boolean, say: (text: string) => void): (building: Building) => void {
  let bar: ReturnType<typeof startBar> | undefined;
  return ({ done, all, functions }) => {
    const text = `Building ${functions} functions and the map, once: about a minute…`;
    if (!isTerminal) {
      if (done === 0) say(text);
      return;
    }
    // A program that ends meanwhile leaves the terminal as it was.
    bar ??= startBar(text).then((started) => {
      process.once("exit", () => started.stop());
      return started;
    });
    void bar.then((started) => {
      started.setTotal(all);
      started.update(done, { stage: text });
      if (done === all) started.stop();
    });
  };
}
