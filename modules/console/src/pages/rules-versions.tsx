// The versions of the rules, each with what it changed.
import type { Rules } from "../../gen/scrollery/v1/rules_pb";
import { api } from "../api/client";
import { usePages } from "../api/query";
import { dateTime } from "../i18n/format";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { Badge, Button, Card } from "../ui/parts";
import { ShowPages } from "../ui/states";

type Line = { sign: "+" | "−" | " "; text: string };

/** The lines of two texts with the longest common sequence between them. */
export function compare(before: string, after: string): Line[] {
  const [a, b] = [before, after].map((text) => text.split("\n").map((line) => line.trimEnd()).filter(Boolean)) as [string[], string[]];
  const common = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) common[i]![j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: " ", text: a[i] ?? "" });
      i++;
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) lines.push({ sign: "−", text: a[i++] ?? "" });
    else lines.push({ sign: "+", text: b[j++] ?? "" });
  }
  return lines;
}

const signs = { "+": "added", "−": "removed", " ": "same" } as const;

export function Versions({ current, use }: { current: Rules; use: (text: string) => void }) {
  const list = usePages(async (pageToken, signal) => {
    const page = await api.rules.listRuleVersions({ pageSize: 10, pageToken }, { signal });
    return { items: page.versions, next: page.nextPageToken };
  }, [current.version]);
  const take = (rules: Rules) => {
    use(rules.text);
    announce(t("rules.taken", { n: rules.version }));
    window.scrollTo(0, 0);
  };
  return (
    <Card title={t("rules.versions")}>
      <ShowPages of={list} empty={null}>
        {(versions) => (
          <ol class="versions">
            {versions.map((rules, i) => {
              const before = versions[i + 1];
              const known = before !== undefined || rules.version === 1;
              return (
                <li key={rules.version}>
                  <details>
                    <summary>
                      <span class="strong">{t("rules.version", { n: rules.version })}</span>
                      {rules.version === current.version && <Badge tone="good">{t("rules.inForce")}</Badge>}
                      <time class="muted" dateTime={new Date(rules.createdAt).toISOString()}>{dateTime(rules.createdAt)}</time>
                    </summary>
                    <ul class="diff">
                      {(known ? compare(before?.text ?? "", rules.text) : rules.text.split("\n").map((text): Line => ({ sign: " ", text }))).map((line, at) => (
                        <li key={at} class={signs[line.sign]}><span class="hidden">{t(`rules.${signs[line.sign]}`)}</span><span aria-hidden="true">{line.sign}</span> <bdi>{line.text}</bdi></li>
                      ))}
                    </ul>
                    {rules.version !== current.version && <Button onClick={() => take(rules)}>{t("rules.take")}</Button>}
                  </details>
                </li>
              );
            })}
          </ol>
        )}
      </ShowPages>
    </Card>
  );
}
