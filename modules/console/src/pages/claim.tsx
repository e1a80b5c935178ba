// The end of a checkout: the key is shown once, and this browser is signed in.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { sleep } from "../api/client";
import { more } from "../api/more";
import { useAction } from "../api/query";
import { signIn } from "../api/signin";
import { accountScopes, readScopes, researchScopes } from "../api/session";
import { t } from "../i18n/t";
import { to } from "../shell/router";
import { Button, Card, Copy, Field, Link, PageHead } from "../ui/parts";
import { Empty, Loading, ProblemView } from "../ui/states";

const storageKey = "scrollery.claim";
const pause = 2000;

/** Keeps the claim token of a checkout in this tab until it is claimed. */
export function keepClaim(token: string): void {
  sessionStorage.setItem(storageKey, token);
}

/** The key that was claimed, until the page is left: it is stored nowhere. */
const claimed = signal("");

export function Claim() {
  const [token, setToken] = useState(() => sessionStorage.getItem(storageKey) ?? "");
  const [status, setStatus] = useState("");
  const gone = useRef(new AbortController());
  const typed = useRef<HTMLInputElement>(null);
  const claim = useAction(async (claimToken: string) => {
    for (;;) {
      const answer = await more.billing.claimSubscription({ claimToken }, { signal: gone.current.signal });
      setStatus(answer.status);
      if (answer.status === "pending") {
        await sleep(pause, gone.current.signal);
        continue;
      }
      sessionStorage.removeItem(storageKey);
      if (answer.apiKey) {
        claimed.value = answer.apiKey;
        await signIn(answer.apiKey, [...readScopes, ...researchScopes, ...accountScopes]);
      }
      return;
    }
  });
  useEffect(() => {
    if (token) void claim.run(token);
  }, [token]);
  useEffect(() => () => { gone.current.abort(); claimed.value = ""; }, []);
  if (claimed.value) return <Done />;
  return (
    <div class="narrow">
      <PageHead title={t("claim.title")} />
      {claim.problem && <ProblemView problem={claim.problem} retry={() => void claim.run(token)} />}
      {claim.busy && <Card><p role="status">{t("claim.pending")}</p><Loading lines={2} /></Card>}
      {!claim.busy && status === "already_claimed" && <Empty title={t("claim.already")} text={t("claim.alreadyText")}><Link class="button" href={to()}>{t("welcome.signIn")}</Link></Empty>}
      {!claim.busy && status.startsWith("invalid") && <Empty title={t("claim.invalid")}><Link class="button" href={to("subscribe")}>{t("welcome.subscribe")}</Link></Empty>}
      {!token && (
        <Card>
          <form onSubmit={(event) => { event.preventDefault(); setToken(typed.current?.value.trim() ?? ""); }}>
            <Field label={t("claim.token")} hint={t("claim.tokenHint")}>
              {(ids) => <input ref={typed} name="token" autocomplete="off" spellcheck={false} required pattern="\s*claim_[A-Za-z0-9]+\s*" {...ids} />}
            </Field>
            <Button type="submit" kind="primary">{t("claim.go")}</Button>
          </form>
        </Card>
      )}
    </div>
  );
}

function Done() {
  return (
    <div class="narrow">
      <PageHead title={t("claim.done")} lead={t("claim.doneText")} />
      <Card title={t("claim.key")}>
        <p class="secret"><code>{claimed.value}</code></p>
        <Copy text={claimed.value} />
        <p class="hint">{t("claim.once")}</p>
      </Card>
      <Card title={t("claim.next")}>
        <ol class="steps">
          <li><Link href={to()}>{t("start.brief")}</Link></li>
          <li>{t("start.rules")}</li>
          <li>{t("start.scroll")}</li>
        </ol>
        <Link class="button primary" href={to()}>{t("claim.begin")}</Link>
      </Card>
    </div>
  );
}
