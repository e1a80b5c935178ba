// The journey over Connect, with the client that protoc-gen-es generates and the transport of @connectrpc/connect-web.
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { BillingService } from "./gen/scrollery/v1/billing_service_pb.js";
import { LibraryService } from "./gen/scrollery/v1/library_service_pb.js";
import { RulesService } from "./gen/scrollery/v1/rules_service_pb.js";
import { ScrollsService } from "./gen/scrollery/v1/scrolls_service_pb.js";
import type { Scroll } from "./gen/scrollery/v1/scroll_pb.js";
import { UsageService } from "./gen/scrollery/v1/usage_service_pb.js";
import { WorkspaceService } from "./gen/scrollery/v1/workspace_service_pb.js";
import { pay, type Seen, type Tour } from "./tour.js";

export async function journey({ baseUrl, ...tour }: Tour): Promise<Seen> {
  const transport = createConnectTransport({ baseUrl });
  const billing = createClient(BillingService, transport);
  const checkout = await billing.subscribe({ billingInterval: "monthly", plan: "pro" });
  await pay(checkout.url, tour.email);
  const claim = await billing.claimSubscription({ claimToken: checkout.claimToken });
  const key: string | undefined = claim.apiKey; // of a completed claim alone
  if (claim.status !== "completed" || !key) throw new Error(`not paid yet: ${claim.status}`);

  const call = { headers: { Authorization: `Bearer ${key}` } };
  await createClient(WorkspaceService, transport).setWorkspace({ description: tour.description, competitors: tour.competitors }, call);
  await createClient(RulesService, transport).putRules({ text: tour.rules }, call);

  const service = createClient(ScrollsService, transport);
  const scrolls: Scroll[] = [];
  for (let run = 1; run <= tour.scrolls; run++) {
    let { scroll } = await service.createScroll({ idempotencyKey: `journey-${run}` }, call);
    for await (const change of service.watchScroll({ id: scroll?.id ?? "" }, call)) scroll = change.scroll;
    if (scroll?.status !== "completed") throw new Error(`the scroll is ${scroll?.status}: ${scroll?.failureCode}`);
    scrolls.push(scroll);
  }

  const library = createClient(LibraryService, transport);
  const { trends } = await library.listTrends({}, call);
  const { outliers } = await library.listOutliers({ minScore: 3 }, { headers: { Authorization: `Bearer ${key}` } });
  if (!outliers.some(({ video }) => video?.metadata?.["caption"])) throw new Error("no outlier has a caption");
  const hooks: string[] = [];
  for (let pageToken: string | undefined; ; ) {
    const page = await library.listHooks({ pageToken }, call);
    hooks.push(...page.hooks.map((hook) => hook.video?.externalId ?? ""));
    if (!page.nextPageToken) break;
    pageToken = page.nextPageToken;
  }

  const videoId = outliers[0]?.video?.id ?? "";
  await library.archiveLibraryVideo({ videoId, archived: true }, call);
  const after = await library.listOutliers({ minScore: 3 }, call);
  const usage = await createClient(UsageService, transport).getUsage({}, call);
  return {
    newVideos: scrolls.map((scroll) => scroll.resultCounts?.videos ?? 0),
    dropped: scrolls.map((scroll) => scroll.progress?.dropped ?? 0),
    hooks: hooks.sort(),
    outliers: outliers.map((outlier) => outlier.video?.externalId ?? "").sort(),
    trends: trends.map((trend) => trend.key).sort(),
    archivedIsListed: after.outliers.some((outlier) => outlier.video?.id === videoId),
    subscription: usage.status,
  };
}
