// The filter by creator. It completes names: those of the newest videos and of the best outliers.
import { useRef, useState } from "preact/hooks";
import { api } from "../api/client";
import { t } from "../i18n/t";
import { InputFilter } from "./filters";

/** The most videos that a list gives at once. */
const limit = 100;

async function read(): Promise<string[]> {
  const [{ videos }, { outliers }] = await Promise.all([api.library.getLibrary({ limit }), api.library.listOutliers({ limit })]);
  const names = new Map<string, string>(); // by what tells them apart
  for (const video of [...videos, ...outliers.map((outlier) => outlier.video)]) {
    const name = video?.source?.handle?.replace(/^@/, "");
    if (name) names.set(name.toLowerCase(), name);
  }
  return [...names.values()].sort((a, b) => a.localeCompare(b));
}

export function CreatorFilter() {
  const [names, setNames] = useState<string[]>([]);
  const asked = useRef(false);
  const ask = () => {
    if (asked.current) return;
    asked.current = true;
    read().then(setNames, () => (asked.current = false)); // names are a help: without them one types
  };
  return <InputFilter name="creator" label={t("table.creator")} names={names} onFocus={ask} />;
}
