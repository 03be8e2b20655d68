import type { Hour } from "../data/densities.ts";

/** Shows the latest hour in a section while it is open: one that is folded costs nothing while hours are played. */
export function whileOpen(section: HTMLDetailsElement, show: (hour: Hour) => void): (hour: Hour) => void {
  let latest: Hour | undefined;
  const showLatest = () => {
    if (section.open && latest !== undefined) show(latest);
  };
  section.addEventListener("toggle", showLatest);
  return (hour) => {
    latest = hour;
    showLatest();
  };
}
