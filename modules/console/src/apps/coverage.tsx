// The MCP App of getScroll: what every source brought.
import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n/t";
import { Coverage, type CoverageRow } from "../pages/scroll-coverage";
import { Badge, Button, Progress } from "../ui/parts";
import { Empty } from "../ui/states";
import { listOf, numberOf, objectOf, read, textOf } from "./bridge";
import { start, type Shown } from "./frame";

function rowOf(item: Record<string, unknown>): CoverageRow {
  return {
    seed: textOf(objectOf(item.untrusted)?.seed) || textOf(item.seed), platform: textOf(item.platform), outcome: textOf(item.outcome),
    asked: numberOf(item.asked) ?? 0, returned: numberOf(item.returned) ?? 0, new: numberOf(item.new) ?? 0, dropped: numberOf(item.dropped) ?? 0,
    trimmed: numberOf(item.trimmed) ?? 0, retryAt: numberOf(item.retryAt),
  };
}

const ended = ["completed", "failed", "cancelled"];

function Scroll({ data, host }: Shown) {
  const [answer, setAnswer] = useState(data);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  useEffect(() => setAnswer(data), [data]);
  const scroll = objectOf(answer.scroll);
  if (!scroll) return <Empty title={t("app.noScroll")} />;
  const progress = objectOf(scroll.progress) ?? {};
  const over = ended.includes(textOf(scroll.status));
  const of = numberOf(objectOf(progress.coverageCut)?.of);
  const again = host.call && (!over || of !== undefined) ? async () => {
    setBusy(true);
    try {
      setAnswer(read(await host.call!("getScroll", { id: textOf(scroll.id), detail: "full" })));
      setProblem("");
    } catch (why) {
      setProblem(why instanceof Error ? why.message : t("app.failed"));
    }
    setBusy(false);
  } : undefined;
  return (
    <>
      <p class="row"><Badge tone={textOf(scroll.status) === "completed" ? "good" : "plain"}>{textOf(scroll.status)}</Badge></p>
      {!over && <Progress value={numberOf(progress.percent) ?? 0} label={t("app.progress")} />}
      <Coverage rows={listOf(progress.coverage).map(rowOf)} over={over} />
      {of !== undefined && <p class="muted">{t("app.cut", { n: of })}</p>}
      {problem && <p class="notice bad" role="alert">{problem}</p>}
      {again && <div class="row center"><Button busy={busy} onClick={() => void again()}>{t(over ? "app.all" : "app.again")}</Button></div>}
    </>
  );
}

start(t("coverage.title"), Scroll);
