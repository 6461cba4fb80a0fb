// A second implementation of the report: one hit after the other, with sets of what was seen.
internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingReport
internal import TrackingRules

/// A hit, as a person reads it from the view `hits`.
struct ReadHit {
    let kind: String
    let deliveryID: String
    let broadlogID: String
    let app: String
    let isIOS: Bool
    let subject: String
    var receiveTime: Int64
    let tenant: String
    let warnings: Warnings
    let event: Sightline_V1_TrackingEvent

    var isInApp: Bool { self.kind.hasPrefix("in_app") }
    var isAttempt: Bool { ["sent", "send_failed"].contains(self.kind) }
    var isSkipped: Bool { self.kind == "send_skipped" }
    var isNothingShown: Bool { self.kind == "impression" && self.warnings.contains(.nothingShown) }

    var product: String {
        let product =
            switch self.event.interaction {
            case .push(let push): push.product
            case .trackAction(let action): action.product
            case .pushSend(let send): send.product
            case .inApp, nil: Sightline_V1_CampaignProduct.unspecified
            }
        return product == .classic ? "classic" : "standard"
    }
}

/// The rows of a report as texts, counted from the hits in their order.
struct CountedHits {
    private(set) var deliveries: Set<String> = []
    private(set) var messages: Set<String> = []

    init(_ hits: [ReadHit], since: Int64?, until: Int64?, isByApp: Bool) {
        // What is the first of its kind is decided by all hits, also outside the range.
        var seen: Set<String> = []
        var rows: [String: [String: Int]] = [:]
        for hit in hits {
            let notification = [hit.tenant, hit.app, hit.product, hit.deliveryID, hit.broadlogID]
                .joined(separator: "|")
            let message = [hit.tenant, hit.app, hit.deliveryID, hit.subject, "in-app"]
                .joined(separator: "|")
            let isFirst =
                hit.isInApp
                ? !hit.subject.isEmpty && seen.insert(message).inserted
                : !hit.isSkipped
                    && seen.insert(notification + (hit.isAttempt ? "|attempt" : "")).inserted
            let isFirstOfKind = seen.insert(notification + "|" + hit.kind).inserted
            guard hit.receiveTime >= since ?? .min, hit.receiveTime < until ?? .max else {
                continue
            }
            let app = isByApp ? hit.app : ""
            let row = [hit.tenant, app, hit.isInApp ? "in-app" : hit.product, hit.deliveryID]
                .joined(separator: "|")
            let side = hit.isInApp ? "" : hit.isIOS ? "ios " : ""
            guard !hit.isNothingShown else {
                rows[row, default: [:]][side + "nothing shown", default: 0] += 1
                continue
            }
            rows[row, default: [:]][side + hit.kind, default: 0] += 1
            if isFirst {
                let what = hit.isAttempt ? "attempted" : "all"
                rows[row, default: [:]][side + what, default: 0] += 1
            }
            if isFirstOfKind, ["impression", "click", "open"].contains(hit.kind) {
                rows[row, default: [:]][side + "first " + hit.kind, default: 0] += 1
            }
        }
        for (row, counts) in rows {
            let text = Self.text(row, counts)
            if row.contains("|in-app|") {
                self.messages.insert(text)
            } else {
                self.deliveries.insert(text)
            }
        }
    }

    private static func text(_ row: String, _ counts: [String: Int]) -> String {
        row + ": "
            + counts.filter { $0.value > 0 }.map { "\($0.key) \($0.value)" }.sorted()
            .joined(separator: ", ")
    }

    static func text(_ row: DeliveryFunnel) -> String {
        var counts: [String: Int] = [
            "button_1": row.button1, "button_2": row.button2, "close": row.closes,
        ]
        for (side, funnel) in [("", row.others), ("ios ", row.ios)] {
            counts[side + "all"] = funnel.notifications
            counts[side + "attempted"] = funnel.attempted
            counts[side + "sent"] = funnel.sent
            counts[side + "send_failed"] = funnel.failed
            counts[side + "send_skipped"] = funnel.skipped
            counts[side + "impression"] = funnel.impressions
            counts[side + "click"] = funnel.clicks
            counts[side + "open"] = funnel.opens
            counts[side + "nothing shown"] = funnel.nothingShown
            counts[side + "first impression"] = funnel.uniqueImpressions
            counts[side + "first click"] = funnel.uniqueClicks
            counts[side + "first open"] = funnel.uniqueOpens
        }
        return Self.text(
            [row.tenant, row.app ?? "", row.product?.name ?? "", row.deliveryID].joined(
                separator: "|"),
            counts)
    }

    static func text(_ row: InAppFunnel) -> String {
        Self.text(
            [row.tenant, row.app ?? "", "in-app", row.messageID].joined(separator: "|"),
            [
                "in_app_impression": row.impressions, "in_app_click": row.clicks,
                "in_app_dismissal": row.dismissals, "in_app_display_error": row.displayErrors,
                "in_app_triggered": row.triggered, "in_app_suppressed": row.suppressed,
                "all": row.recipients,
            ])
    }
}
