/// A mistake in a delivery, as a sentence with figures.
package struct DeliveryFinding: Sendable, Equatable {
    /// What is wrong.
    package let code: Code
    /// The sentence, for people.
    package let sentence: String
    /// The sentence's figures in its order; the first is the number of events concerned.
    package let figures: [Figure]

    /// A figure of a sentence.
    package struct Figure: Sendable, Equatable {
        /// What is counted, such as "events".
        package let name: String
        /// The count.
        package let value: UInt64
    }

    /// What can be wrong; the names are stable.
    package enum Code: String, Sendable, CaseIterable {
        case nothingSeen = "NOTHING_SEEN"
        case flagUnknown = "FLAG_UNKNOWN"
        case flagOff = "FLAG_OFF"
        case rejected = "REJECTED"
        case rejectedWithoutDelivery = "REJECTED_WITHOUT_DELIVERY"
        case consentMissing = "CONSENT_MISSING"
        case testMessages = "TEST_MESSAGES"
        case displaySuppressed = "DISPLAY_SUPPRESSED"
        case neverOpened = "NEVER_OPENED"
        case dismissalsAsOpens = "DISMISSALS_AS_OPENS"
        case opensWithoutClicks = "OPENS_WITHOUT_CLICKS"
        case repeatedReports = "REPEATED_REPORTS"
        case closedImpressions = "CLOSED_IMPRESSIONS"
        case linkContradictsIDs = "LINK_CONTRADICTS_IDS"
        case placeholderIDs = "PLACEHOLDER_IDS"
        case clicksWithoutImpressions = "CLICKS_WITHOUT_IMPRESSIONS"
        case idsNotHex = "IDS_NOT_HEX"
        case mediaNotShown = "MEDIA_NOT_SHOWN"
        case clockSkew = "CLOCK_SKEW"
        case nothingReported = "NOTHING_REPORTED"
        case impressionsMissing = "IMPRESSIONS_MISSING"
        case moreImpressionsThanSent = "MORE_IMPRESSIONS_THAN_SENT"
        case versionWithoutReports = "VERSION_WITHOUT_REPORTS"
        case tokensUnregistered = "TOKENS_UNREGISTERED"
        case sendReasonGrew = "SEND_REASON_GREW"
        case sentWithoutFlag = "SENT_WITHOUT_FLAG"
        case totalsDiffer = "TOTALS_DIFFER"
        case incomplete = "INCOMPLETE"
    }
}

extension UInt64 {
    /// The number with separated thousands, such as 4,100.
    var grouped: String {
        let digits = Array(String(self))
        return digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text += "," }
            text.append(digit.element)
        }
    }
}
