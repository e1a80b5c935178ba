// The clients that pages use which are loaded after the first one.
import { createClient } from "@connectrpc/connect";
import { BillingService } from "../../gen/scrollery/v1/billing_service_pb";
import { BriefsService } from "../../gen/scrollery/v1/briefs_service_pb";
import { CollectionsService } from "../../gen/scrollery/v1/collections_service_pb";
import { ImportsService } from "../../gen/scrollery/v1/imports_service_pb";
import { SharesService } from "../../gen/scrollery/v1/shares_service_pb";
import { SourcesService } from "../../gen/scrollery/v1/sources_service_pb";
import { UsageService } from "../../gen/scrollery/v1/usage_service_pb";
import { WebhooksService } from "../../gen/scrollery/v1/webhooks_service_pb";
import { transport } from "./client";

export const more = {
  billing: createClient(BillingService, transport),
  briefs: createClient(BriefsService, transport),
  collections: createClient(CollectionsService, transport),
  imports: createClient(ImportsService, transport),
  shares: createClient(SharesService, transport),
  sources: createClient(SourcesService, transport),
  usage: createClient(UsageService, transport),
  webhooks: createClient(WebhooksService, transport),
};
