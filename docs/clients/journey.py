"""The journey over gRPC, with the client that protoc generates for Python: journey.py TOUR."""

import json
import sys
import urllib.parse
import urllib.request

import grpc

from scrollery.v1.billing_service_pb2 import ClaimSubscriptionRequest, SubscribeRequest
from scrollery.v1.billing_service_pb2_grpc import BillingServiceStub
from scrollery.v1.library_lists_pb2 import ListHooksRequest, ListOutliersRequest, ListTrendsRequest
from scrollery.v1.library_service_pb2 import ArchiveLibraryVideoRequest
from scrollery.v1.library_service_pb2_grpc import LibraryServiceStub
from scrollery.v1.rules_service_pb2 import PutRulesRequest
from scrollery.v1.rules_service_pb2_grpc import RulesServiceStub
from scrollery.v1.scrolls_service_pb2 import CreateScrollRequest, WatchScrollRequest
from scrollery.v1.scrolls_service_pb2_grpc import ScrollsServiceStub
from scrollery.v1.usage_service_pb2 import GetUsageRequest
from scrollery.v1.usage_service_pb2_grpc import UsageServiceStub
from scrollery.v1.workspace_service_pb2 import SetWorkspaceRequest
from scrollery.v1.workspace_service_pb2_grpc import WorkspaceServiceStub


def pay(checkout, email):
    """Fills in the form of the test checkout, as a person does in a browser."""
    form = urllib.parse.urlencode({"email": email, "action": "pay"}).encode()
    with urllib.request.urlopen(checkout, form, timeout=30):
        pass


def journey(tour):
    channel = grpc.insecure_channel(urllib.parse.urlsplit(tour["baseUrl"]).netloc)
    billing = BillingServiceStub(channel)
    checkout = billing.Subscribe(SubscribeRequest(billing_interval="monthly", plan="pro"))
    pay(checkout.url, tour["email"])
    claim = billing.ClaimSubscription(ClaimSubscriptionRequest(claim_token=checkout.claim_token))
    if claim.status != "completed" or not claim.HasField("api_key"):
        raise SystemExit("not paid yet: " + claim.status)
    key = claim.api_key

    call = [("authorization", "Bearer " + key)]
    brief = SetWorkspaceRequest(description=tour["description"], competitors=tour["competitors"])
    WorkspaceServiceStub(channel).SetWorkspace(brief, metadata=call)
    RulesServiceStub(channel).PutRules(PutRulesRequest(text=tour["rules"]), metadata=call)

    service, scrolls = ScrollsServiceStub(channel), []
    for run in range(tour["scrolls"]):
        scroll = service.CreateScroll(CreateScrollRequest(idempotency_key="journey-%d" % run), metadata=call).scroll
        for change in service.WatchScroll(WatchScrollRequest(id=scroll.id), metadata=call):
            scroll = change.scroll
        if scroll.status != "completed":
            raise SystemExit("the scroll is %s: %s" % (scroll.status, scroll.failure_code))
        scrolls.append(scroll)

    library = LibraryServiceStub(channel)
    trends = library.ListTrends(ListTrendsRequest(), metadata=call).trends
    answer = library.ListOutliers(ListOutliersRequest(min_score=3), metadata=[("authorization", "Bearer " + key)])
    if not any(outlier.video.metadata["caption"] for outlier in answer.outliers):
        raise SystemExit("no outlier has a caption")
    hooks, token = [], None
    while token != "":
        page = library.ListHooks(ListHooksRequest(page_token=token), metadata=call)
        hooks += [hook.video.external_id for hook in page.hooks]
        token = page.next_page_token

    video = answer.outliers[0].video.id
    library.ArchiveLibraryVideo(ArchiveLibraryVideoRequest(video_id=video, archived=True), metadata=call)
    after = library.ListOutliers(ListOutliersRequest(min_score=3), metadata=call)
    usage = UsageServiceStub(channel).GetUsage(GetUsageRequest(), metadata=call)
    return {
        "newVideos": [scroll.result_counts.videos for scroll in scrolls],
        "dropped": [scroll.progress.dropped for scroll in scrolls],
        "hooks": sorted(hooks),
        "outliers": sorted(outlier.video.external_id for outlier in answer.outliers),
        "trends": sorted(trend.key for trend in trends),
        "archivedIsListed": any(outlier.video.id == video for outlier in after.outliers),
        "subscription": usage.status,
    }


if __name__ == "__main__":
    print(json.dumps(journey(json.loads(sys.argv[1]))))
