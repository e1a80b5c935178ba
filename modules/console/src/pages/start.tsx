// The first page: three steps until the first scroll, or a file instead of it, then what
// changed since the last visit.
import { api } from "../api/client";
import { useQuery } from "../api/query";
import { t } from "../i18n/t";
import { PageHead } from "../ui/parts";
import { Show } from "../ui/states";
import { ImportFile, Steps, Watch } from "./later";
import { News } from "./start-findings";

export function Start() {
  const state = useQuery(async (signal) => {
    const [{ workspace }, { rules }, { scrolls }] = await Promise.all([
      api.workspace.getWorkspace({}, { signal }),
      api.rules.getRules({}, { signal }),
      api.scrolls.listScrolls({ pageSize: 1 }, { signal }),
    ]);
    return { workspace, rules, scroll: scrolls[0] };
  }, [], "start");
  return (
    <>
      <PageHead title={state.data?.workspace?.name || t("nav.start")} lead={state.data?.scroll ? undefined : t("start.lead")} />
      <Show of={state}>
        {({ workspace, rules, scroll }) => workspace && scroll
          ? <News workspace={workspace.id} scroll={scroll} />
          : <>{!workspace && <Watch />}<Steps workspace={workspace} rules={rules} done={state.reload} /></>}
      </Show>
      {state.data && <ImportFile briefed={state.data.workspace !== undefined} />}
    </>
  );
}
