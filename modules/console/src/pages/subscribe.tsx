// Plans, and the way to the checkout. The claim token stays in this tab: the checkout's
// last page leads back to Claim.
import { useState } from "preact/hooks";
import { more } from "../api/more";
import { useAction, useQuery } from "../api/query";
import { money } from "../i18n/format";
import { t } from "../i18n/t";
import { Button, Card, PageHead } from "../ui/parts";
import { ProblemView, Show } from "../ui/states";
import { keepClaim } from "./claim";

export function Subscribe() {
  const [interval, setInterval] = useState("monthly");
  const prices = useQuery((signal) => more.billing.getPricing({}, { signal }), []);
  const start = useAction(async (plan: string) => {
    const { url, claimToken } = await more.billing.subscribe({ plan, billingInterval: interval });
    keepClaim(claimToken);
    location.assign(url);
  });
  return (
    <div class="middle">
      <PageHead title={t("subscribe.title")} lead={t("subscribe.lead")} />
      <fieldset class="choices">
        <legend>{t("subscribe.interval")}</legend>
        {(["monthly", "annual"] as const).map((one) => (
          <label key={one} class="choice"><input type="radio" name="interval" checked={interval === one} onChange={() => setInterval(one)} /><span>{t(`subscribe.${one}`)}</span></label>
        ))}
      </fieldset>
      <Show of={prices}>
        {({ plans }) => (
          <div class="cards">
            {[plans?.standard, plans?.pro].map((plan) => plan && (
              <Card key={plan.planKey} title={plan.label}>
                <p class="figure">{money(interval === "annual" ? plan.annualPrice : plan.monthlyPrice)} <small>{t(interval === "annual" ? "subscribe.aYear" : "subscribe.aMonth")}</small></p>
                <p>{t("subscribe.size", { n: plan.maxFeedSize })}</p>
                <Button kind="primary" busy={start.busy} onClick={() => void start.run(plan.planKey)}>{t("subscribe.go", { plan: plan.label })}</Button>
              </Card>
            ))}
          </div>
        )}
      </Show>
      {start.problem && <ProblemView problem={start.problem} />}
    </div>
  );
}
