/** Areas as people have them in files and elsewhere: chosen, dropped on the page, or pasted. */
import { buttonTo, html } from "../base/dom.ts";

/** Creates a button that opens files. @param take is called with what was read */
export function fileButton(take: (texts: readonly string[]) => void): HTMLElement {
  const readChosen = async () => {
    take(await readFiles([...(files.files ?? [])]));
    files.value = "";
  };
  const files = html("input", {
    type: "file",
    multiple: true,
    hidden: true,
    "aria-label": "Files with areas",
    accept: ".kml,.kmz,.gpx,.geojson,.geojsonl,.geojsons,.ndjson,.jsonl,.json,.wkt,.csv,.tsv,.txt",
    change: () => void readChosen(),
  });
  const button = buttonTo("Open a file", () => files.click(), { class: "chip" });
  return html("span", {}, button, files);
}

/** Calls the listener with texts that are dropped on the page, or pasted where nobody is typing. */
export function onGivenTexts(listener: (texts: readonly string[]) => void): void {
  const setTarget = (isTarget: boolean) => document.body.classList.toggle("is-drop-target", isTarget);
  addEventListener("dragover", (event) => {
    const kinds = event.dataTransfer?.types ?? [];
    if (!kinds.includes("Files") && !kinds.includes("text/plain")) return;
    event.preventDefault();
    setTarget(true);
  });
  addEventListener("dragleave", ({ relatedTarget }) => {
    if (relatedTarget === null) setTarget(false);
  });
  addEventListener("drop", (event) => {
    setTarget(false);
    takeFrom(event, event.dataTransfer);
  });
  addEventListener("paste", (event) => takeFrom(event, event.clipboardData));
  const takeFrom = (event: Event, data: DataTransfer | null) => {
    const files = [...(data?.files ?? [])];
    const text = data?.getData("text/plain") ?? "";
    // A text goes where somebody is typing. A file does not, and browsers would open it instead of the page.
    if (files.length === 0 && (text === "" || isField(event.target))) return;
    event.preventDefault();
    if (files.length > 0) void readFiles(files).then(listener);
    else listener([text]);
  };
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

async function readFiles(files: readonly File[]): Promise<string[]> {
  return await Promise.all(files.map((file) => file.text()));
}
