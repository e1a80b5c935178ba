// Starting a scroll, here and in the first steps.
import { useRef, useState } from "preact/hooks";
import { allow, api } from "../api/client";
import { useAction } from "../api/query";
import { researchScopes } from "../api/session";
import { t } from "../i18n/t";
import { navigate, to } from "../shell/router";
import { TextArea } from "../ui/input";
import { Button, Field } from "../ui/parts";
import { ProblemView } from "../ui/states";
import { Estimate } from "./scroll-estimate";

const mostDays = 7;

/** Starts a scroll and opens it. A repeated press, after a lost network too, starts the same one. */
export function ScrollForm({ first }: { first?: boolean }) {
  const [prompt, setPrompt] = useState("");
  const [days, setDays] = useState(0);
  const once = useRef(crypto.randomUUID());
  const start = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    const { scroll } = await api.scrolls.createScroll({ prompt: prompt.trim() || undefined, schedule: days || undefined, idempotencyKey: once.current });
    once.current = crypto.randomUUID();
    if (scroll) navigate(to("scroll", scroll.id));
  });
  return (
    <form onSubmit={(event) => { event.preventDefault(); void start.run(); }}>
      <Field label={t("scroll.prompt")} hint={t("scroll.promptHint")}>
        {(ids) => <TextArea rows={2} value={prompt} onText={setPrompt} maxLength={20000} {...ids} />}
      </Field>
      {!first && (
        <Field label={t("schedule.repeat")}>
          {(ids) => (
            <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))} {...ids}>
              <option value={0}>{t("schedule.once")}</option>
              {Array.from({ length: mostDays }, (_, i) => <option key={i} value={i + 1}>{t("schedule.every", { n: i + 1 })}</option>)}
            </select>
          )}
        </Field>
      )}
      {start.problem && <ProblemView problem={start.problem} />}
      <Button type="submit" kind="primary" busy={start.busy}>{t("scroll.start")}</Button>
      <Estimate prompt={prompt.trim()} />
    </form>
  );
}
