extension DeliveryFinding.Code {
    /// What is wrong in a few fixed words: for those who may not see what a client sent, which a
    /// sentence may quote.
    package var summary: String {
        switch self {
        case .nothingSeen: "nothing of it has arrived"
        case .flagUnknown: "the tracking flag is neither on nor off"
        case .flagOff: "the tracking flag is off, so nothing is tracked"
        case .rejected: "events break a rule"
        case .rejectedWithoutDelivery: "events of its apps that name no delivery break a rule"
        case .consentMissing: "recipients of its apps gave no consent"
        case .testMessages: "half of the events or more are of test messages"
        case .displaySuppressed: "the app suppressed the display"
        case .neverOpened: "clicks, and never an open"
        case .dismissalsAsOpens: "dismissals are reported as opens"
        case .opensWithoutClicks: "opens, and never a click"
        case .repeatedReports: "clicks and opens are reported again and again"
        case .closedImpressions: "impressions of closed apps, which iOS does not run for them"
        case .linkContradictsIDs: "the tracked link has other ids than the payload"
        case .placeholderIDs: "an id is a placeholder, so that all recipients count as one"
        case .clicksWithoutImpressions: "clicks, and no impression"
        case .idsNotHex: "ids that Campaign Standard does not make"
        case .mediaNotShown: "media that iOS does not show without mutable-content"
        case .clockSkew: "devices' times are far from the server's"
        case .nothingReported: "it was sent, and no app has reported anything"
        case .impressionsMissing: "fewer impressions than half of what was sent"
        case .moreImpressionsThanSent: "more impressions than were sent"
        case .versionWithoutReports: "a version of the app reports nothing"
        case .tokensUnregistered:
            "a tenth of the attempts or more had a token that is registered "
                + "no more"
        case .sendReasonGrew: "a reason for not sending has twice its share of the delivery before"
        case .sentWithoutFlag: "reports come without the tracking flag"
        case .totalsDiffer: "what was put as its totals differs from the facts of its recipients"
        case .incomplete: "older counts have lost their delivery"
        }
    }
}
