// The field for a key. The key leaves it with the one call that it is for.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useAction } from "../api/query";
import { t } from "../i18n/t";
import { Button, Field } from "./parts";
import { ProblemView } from "./states";

type Props = {
  submit: string;
  use: (key: string) => Promise<void>;
  /** Stands between the field and the buttons. */
  choice?: ComponentChildren;
  /** More buttons. */
  children?: ComponentChildren;
};

export function KeyForm({ submit, use, choice, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const send = useAction(async () => {
    await use(input.current?.value ?? "");
    if (input.current) input.current.value = "";
  });
  return (
    <form onSubmit={(event) => { event.preventDefault(); void send.run(); }}>
      <Field label={t("key.label")} hint={t("key.hint")}>
        {(ids) => <input ref={input} type="password" name="key" autocomplete="off" spellcheck={false} required pattern="\s*scr_[A-Za-z0-9_]+\s*" title={t("key.shape")} {...ids} />}
      </Field>
      {choice}
      {send.problem && <ProblemView problem={send.problem} />}
      <div class="row">
        <Button type="submit" kind="primary" busy={send.busy}>{submit}</Button>
        {children}
      </div>
    </form>
  );
}
