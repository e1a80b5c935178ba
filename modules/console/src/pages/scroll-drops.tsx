// What the rules dropped, with examples, and the rules that could not be applied.
import { useState } from "preact/hooks";
import type { RuleDrops } from "../../gen/scrollery/v1/scroll_pb";
import { api } from "../api/client";
import { useQuery } from "../api/query";
import { number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { to } from "../shell/router";
import { Button, Card, Link, Quote } from "../ui/parts";
import { Empty, Show } from "../ui/states";

const read = 100;
const examples = 5;

export function Drops({ scroll, rules, unclear }: { scroll: string; rules: RuleDrops[]; unclear: string[] }) {
  const [open, setOpen] = useState("");
  return (
    <Card title={t("drops.title")} aside={<Link href={to("rules")}>{t("drops.edit")}</Link>}>
      {rules.length === 0 ? <Empty title={t("drops.none")} /> : (
        <ul class="plain-list">
          {rules.map(({ rule, videos }) => (
            <li key={rule}>
              <div class="row spread">
                <Quote text={rule === "prompt" ? t("drops.prompt") : rule} lines={2} />
                <span class="row">
                  <span class="figure-small">{number(videos)}</span>
                  <Button kind="quiet" aria-expanded={open === rule} onClick={() => setOpen(open === rule ? "" : rule)}>{t("drops.examples")}</Button>
                </span>
              </div>
              {open === rule && <Examples scroll={scroll} rule={rule} />}
            </li>
          ))}
        </ul>
      )}
      {unclear.length > 0 && (
        <div class="notice warn">
          <p>{t("drops.unclear")}</p>
          <ul class="bullets">{unclear.map((rule) => <li key={rule}><bdi>{rule}</bdi></li>)}</ul>
        </div>
      )}
    </Card>
  );
}

function Examples({ scroll, rule }: { scroll: string; rule: string }) {
  const verdicts = useQuery(async (signal) => {
    const page = await api.scrolls.listVerdicts({ scrollId: scroll, dropped: true, pageSize: read }, { signal });
    return page.verdicts.filter((verdict) => verdict.rule === rule).slice(0, examples);
  }, [scroll, rule]);
  return (
    <Show of={verdicts} lines={2}>
      {(found) => found.length === 0 ? <p class="muted">{t("drops.noExamples")}</p> : (
        <ul class="examples">
          {found.map((verdict) => <li key={verdict.platform + verdict.externalId}><span>{word("platform", verdict.platform)}</span> <Quote text={verdict.reason} lines={2} /></li>)}
        </ul>
      )}
    </Show>
  );
}
