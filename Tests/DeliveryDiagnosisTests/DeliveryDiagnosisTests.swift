// A test per sentence: the known mistakes of integrations, as events show them in the ledger.
@testable internal import DeliveryDiagnosis
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct DeliveryDiagnosisTests {
    /// A mistake: what the ledger counts, and what is said of it.
    struct Mistake: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let rows: [LedgerRow]
        let unnamed: [LedgerRow]
        /// The delivery that was sent before.
        let before: [LedgerRow]
        /// Codes in order; each has a sentence that holds `words`.
        let codes: [DeliveryFinding.Code]
        let words: [String]

        init(
            _ name: String, _ rows: [LedgerRow], unnamed: [LedgerRow] = [],
            before: [LedgerRow] = [], _ codes: [DeliveryFinding.Code], _ words: String...
        ) {
            self.testDescription = name
            self.rows = rows
            self.unnamed = unnamed
            self.before = before
            self.codes = codes
            self.words = words
        }
    }

    /// 3,738 events of an Android app without mistakes.
    static let healthy: [LedgerRow] = [
        Self.hits(3000, .impression), Self.hits(238, .click), Self.hits(500, .click, .open),
        Self.warning(.flagAssumedOn, 10),
    ]
    /// The same on iOS, where many impressions are missing.
    static let healthyIOS: [LedgerRow] = [
        Self.hits(30, .impression, on: .ios), Self.hits(150, .click, on: .ios),
        Self.hits(400, .click, .open, on: .ios), Self.warning(.impressionUnreliable, 30, .ios),
        Self.row(.duplicate([HitKinds(.click), HitKinds(.open)]), 40, .ios),
    ]

    private static let flags: [Mistake] = [
        Mistake(
            "ON on Android", Self.healthy + [Self.flag("ON", 362)], [.flagUnknown],
            "362 of 4,100 on Android: the flag was `ON`, which Android compares exactly; the app's "
                + "code is `\"on\".equals`"),
        Mistake(
            "On without a platform", [Self.flag("On", 2, nil)], [.flagUnknown],
            "2 of 2 without a platform: the flag was `On`, and without a platform"),
        Mistake(
            "a blank before on", Self.healthy + [Self.flag(" on", 1)], [.flagUnknown],
            "1 of 3,739 on Android: the flag was ` on`, with something around it"),
        Mistake(
            "true", Self.healthyIOS + [Self.flag("true", 5, .ios)], [.flagUnknown],
            "5 of 625 on iOS: the flag was `true`, and only `on` and `off` are values of it"),
        Mistake(
            "an empty flag", [Self.flag("", 7)], [.flagUnknown],
            "7 of 7 on Android: the flag was empty"),
        Mistake(
            "a newline behind it", [Self.flag(#"on\u{a}"#, 7), Self.flag("on?", 3)],
            [.flagUnknown, .flagUnknown], #"the flag was `on\u{a}`, with something around it"#,
            "the flag was `on?`, with something around it"),
        Mistake(
            "another script", [Self.flag(#"\u{432}\u{43a}\u{43b}"#, 7)], [.flagUnknown],
            #"the flag was `\u{432}\u{43a}\u{43b}`, which is neither `on` nor `off`"#),
        Mistake(
            "another word", [Self.flag("enabled", 7)], [.flagUnknown],
            "the flag was `enabled`, which is neither `on` nor `off`"),
        Mistake(
            "further values", [Self.flag(Ledger.otherValue, 7)], [.flagUnknown],
            "the flag had further values"),
        Mistake(
            "two values", [Self.flag("ON", 3), Self.flag("1", 9)], [.flagUnknown, .flagUnknown],
            "9 of 12 on Android: the flag was `1`"),
        Mistake(
            "switched off", [Self.row(.refused(.suppressedFlagOff), 120)], [.flagOff],
            "120 of 120 on Android: the flag was `off`, so nothing is tracked"),
    ]

    private static func rejected(_ rule: String, _ words: String) -> Mistake {
        Mistake(
            rule, Self.healthy + [Self.row(.refused(.rejected), 5, detail: rule)], [.rejected],
            "5 of 3,743 on Android: rejected, \(words)")
    }

    private static let rejections: [Mistake] = [
        Self.rejected(
            "push.fcm.data.message_id required",
            "push.fcm.data.message_id REQUIRED: look for `_mid` in place of `_mId`, or for ids "
                + "nested in aps.alert"),
        Self.rejected(
            "track_action.broadlog_id required",
            "track_action.broadlog_id REQUIRED: look for `messageId` in place of broadlogId"),
        Self.rejected(
            "push.kind conflict",
            "push.kind CONFLICT: Campaign Classic does not count it; see that `product` is right"),
        Self.rejected(
            "platform conflict", "platform CONFLICT: the payload is of the other platform"),
        Self.rejected(
            "push.fcm.data.message_id format",
            "push.fcm.data.message_id FORMAT: the id has letters that no URL may have, as the "
                + "placeholder [object Object] has"),
        Self.rejected("event too_large", "event TOO_LARGE"),
        Mistake(
            "events without a delivery", Self.healthy,
            unnamed: [
                Self.row(
                    .refused(.rejected), 9, .ios, detail: "push.apns.delivery_id required",
                    delivery: "")
            ],
            [.rejectedWithoutDelivery],
            "9 events of its apps that name no delivery were rejected: push.apns.delivery_id "
                + "REQUIRED: look for _dId in aps.alert, or under another name"),
    ]

    private static let suppressed: [Mistake] = [
        Mistake(
            "no consent, and nothing else", [],
            unnamed: [Self.row(.refused(.suppressedConsent), 1200, delivery: "")],
            [.nothingSeen, .consentMissing],
            "Nothing of delivery 56c4 has arrived in the days that the ledger keeps",
            "1,200 events of its apps were not tracked, for their recipients gave no consent"),
        Mistake(
            "test messages",
            [Self.row(.refused(.suppressedTestMessage), 4, nil, product: .firebase)],
            [.testMessages],
            "4 of 4 without a platform: test messages, which count only with "
                + "rules.record_test_messages"),
        Mistake(
            "display suppressed",
            [Self.row(.refused(.suppressedDisplay), 4, .ios, product: .firebase)],
            [.displaySuppressed], "4 of 4 on iOS: the app suppressed the display"),
    ]

    private static let patterns: [Mistake] = [
        Mistake(
            "only 7 and 2, never 1",
            [Self.hits(900, .impression), Self.hits(40, .click)], [.neverOpened],
            "40 clicks (2) and 900 impressions (7) on Android, and never an open (1)"),
        Mistake(
            "opens without clicks",
            [Self.hits(900, .impression, on: .ios), Self.hits(60, .open, on: .ios)],
            [.opensWithoutClicks], "60 opens (1) on iOS, and never a click (2)"),
        Mistake(
            "dismissals sent as opens, as the vendor's old sample does",
            Self.healthy + [Self.hits(120, .open), Self.warning(.openWithoutClick, 120)],
            [.dismissalsAsOpens],
            "120 of 620 opens (1) on Android have no click (2) before them, as others do: the "
                + "vendor's old sample sends a dismissal as action 1; send it as 2 alone"),
        Mistake(
            "dismissals sent both ways",
            Self.healthy + [Self.warning(.openAfterDismiss, 60)], [.dismissalsAsOpens],
            "60 of 500 opens (1) on Android follow a dismissal"),
        Mistake(
            "again at every resume",
            Self.healthy + [Self.row(.duplicate([HitKinds(.click), HitKinds(.open)]), 900)],
            [.repeatedReports],
            "1,800 clicks and opens on Android were repeats of 1,238 known ones, which count once: "
                + "the vendor's sample sends both again at every resume"),
        Mistake(
            "called back twice",
            Self.healthyIOS + [
                Self.row(.duplicate([HitKinds(.click), HitKinds(.open)]), 900, .ios)
            ],
            [.repeatedReports], "iOS may call back twice for one tap"),
        Mistake(
            "impressions of a closed app on iOS",
            Self.healthyIOS + [Self.row(.closedImpression, 3, .ios)], [.closedImpressions],
            "3 of 30 impressions (7) on iOS came from a closed app"),
        Mistake(
            "the link's ids are others",
            Self.healthy + [Self.warning(.linkContradictsIDs, 12)], [.linkContradictsIDs],
            "12 of 3,738 on Android: the tracked link in `uri` has other ids than _dId and _mId"),
        Mistake(
            "a placeholder as the message's id",
            Self.healthy + [
                Self.hits(1, .click, .open), Self.warning(.idPlaceholder, 901),
                Self.row(.duplicate([HitKinds(.click), HitKinds(.open)]), 900),
            ], [.placeholderIDs],
            "901 of 4,639 on Android: _mId is a placeholder such as `null`, `undefined` or `0`, which "
                + "the app writes where it has no id"),
        Mistake(
            "a placeholder as the delivery's id",
            [
                Self.row(.accepted(HitKinds(.impression)), 5, delivery: "null"),
                Self.row(.warning(10), 5, delivery: "null"),
            ], [.placeholderIDs], "5 of 5 on Android: _dId is the placeholder `null`"),
        Mistake(
            "a placeholder as an in-app message's id",
            [
                Self.row(
                    .accepted(HitKinds(.inAppImpression)), 5, nil, product: .firebase,
                    delivery: "[object Object]"),
                Self.row(.warning(10), 5, nil, product: .firebase, delivery: "[object Object]"),
            ], [.placeholderIDs],
            "5 of 5 without a platform: message_id is the placeholder `[object Object]`"),
        Mistake(
            "a placeholder, and an app that reports at every resume too",
            Self.healthy + [
                Self.warning(.idPlaceholder, 40),
                Self.row(.duplicate([HitKinds(.click), HitKinds(.open)]), 900),
            ], [.repeatedReports, .placeholderIDs],
            "1,800 clicks and opens on Android were repeats of 1,238 known ones"),
        Mistake(
            "clicks without impressions on Android",
            [Self.hits(300, .click, .open)], [.clicksWithoutImpressions],
            "300 clicks (2) on Android, and never an impression (7)"),
        Mistake(
            "ids that are not hex", Self.healthy + [Self.warning(.idNotHex, 2)], [.idsNotHex],
            "2 of 3,738 on Android: an id is not as Campaign Standard makes it"),
        Mistake(
            "media without mutable-content",
            Self.healthyIOS + [Self.warning(.mediaWithoutMutableContent, 8, .ios)],
            [.mediaNotShown], "8 of 620 on iOS: media-attachment-url came without mutable-content"),
        Mistake(
            "milliseconds as seconds", Self.healthy + [Self.warning(.clockSkew, 3738)],
            [.clockSkew], "3,738 of 3,738 on Android: occur_time is over 5 minutes ahead"),
        Mistake(
            "a full ledger", Self.healthy,
            unnamed: [Self.row(.accepted(HitKinds(.click)), 77, nil, delivery: "", isOther: true)],
            [.incomplete], "77 older or further counts are in `other`, without their delivery"),
        Mistake(
            "a ledger that was full for one event", Self.healthy,
            unnamed: [Self.row(.accepted(HitKinds(.click)), 1, nil, delivery: "", isOther: true)],
            [.incomplete], "1 older or further count is in `other`, without its delivery"),
    ]

    @Test(
        "each known mistake is named, in a sentence with figures",
        arguments: flags + rejections + suppressed + patterns + sends)
    func mistakes(_ mistake: Mistake) {
        let findings = Self.findings(mistake.rows, mistake.unnamed, before: mistake.before)
        #expect(findings.map(\.code) == mistake.codes)
        for words in mistake.words {
            #expect(findings.contains { $0.sentence.contains(words) }, "\(findings)")
        }
    }

    @Test("a single event of its apps is told in the singular")
    func single() {
        let unnamed: [(LedgerOutcome, String)] = [
            (
                .refused(.suppressedConsent),
                "1 event of its apps was not tracked, for its recipient gave no consent; "
            ),
            (
                .refused(.rejected),
                "1 event of its apps that names no delivery was rejected: "
            ),
        ]
        for (outcome, sentence) in unnamed {
            let row = Self.row(outcome, 1, detail: "platform required", delivery: "")
            let findings = Self.findings([], [row])
            #expect(findings.contains { $0.sentence.hasPrefix(sentence) }, "\(findings)")
        }
    }

    @Test("every code has a mistake that shows it")
    func codes() {
        let all = Self.flags + Self.rejections + Self.suppressed + Self.patterns + Self.sends
        let shown = all.flatMap(\.codes)
        // TotalsDifferTests has those of the last one.
        #expect(Set(shown).union([.totalsDiffer]) == Set(DeliveryFinding.Code.allCases))
    }

    /// Deliveries that nothing is wrong with; D12, D16.
    private static let sound: [[LedgerRow]] = [
        Self.healthy, Self.healthyIOS, Self.healthy + Self.healthyIOS,
        // Classic has no opens.
        [
            Self.hits(300, .impression, product: .classic),
            Self.hits(90, .click, product: .classic),
        ],
        // Nobody has touched it yet.
        [Self.hits(5000, .impression)],
        // A request or two was sent again.
        Self.healthy + [Self.row(.duplicate(HitKinds(.impression)), 300)],
        // A quarter of an in-app message's views were tests.
        [
            Self.hits(30, .inAppImpression, on: nil, product: .firebase),
            Self.row(.refused(.suppressedTestMessage), 10, nil, product: .firebase),
        ],
    ]

    @Test("D12, D16: nothing is said of a delivery that nothing is wrong with", arguments: sound)
    func healthy(_ rows: [LedgerRow]) {
        // Recipients of the same app who gave no consent are no mistake.
        let unnamed = [Self.row(.refused(.suppressedConsent), 5000, delivery: "")]
        #expect(Self.findings(rows, unnamed) == [])
    }

    @Test("a pattern of many events needs 20 of them, or its share, and not one less")
    func thresholds() {
        let few: [(rows: [LedgerRow], code: DeliveryFinding.Code)] = [
            ([Self.hits(9, .impression), Self.hits(19, .click)], .neverOpened),
            ([Self.hits(9, .impression), Self.hits(19, .open)], .opensWithoutClicks),
            ([Self.hits(19, .click, .open)], .clicksWithoutImpressions),
            (
                [Self.hits(9, .impression), Self.hits(39, .click, .open)]
                    + [Self.row(.duplicate(HitKinds(.click)), 38)], .repeatedReports
            ),
            (
                [Self.hits(9, .impression), Self.hits(491, .click, .open)]
                    + [Self.warning(.openWithoutClick, 49)], .dismissalsAsOpens
            ),
            ([Self.hits(491, .impression), Self.warning(.clockSkew, 49)], .clockSkew),
            (
                [Self.hits(11, .inAppImpression, on: nil, product: .firebase)]
                    + [Self.row(.refused(.suppressedDisplay), 10, nil, product: .firebase)],
                .displaySuppressed
            ),
            (
                [Self.hits(11, .inAppImpression, on: nil, product: .firebase)]
                    + [Self.row(.refused(.suppressedTestMessage), 10, nil, product: .firebase)],
                .testMessages
            ),
        ]
        for (rows, code) in few {
            #expect(!Self.findings(rows, []).contains { $0.code == code }, "\(code)")
            var more = rows
            let last = more.removeLast()
            more.append(
                Self.row(last.outcome, last.count + 1, last.platform, product: last.product))
            #expect(Self.findings(more, []).contains { $0.code == code }, "\(code)")
        }
    }

    static func findings(
        _ rows: [LedgerRow], _ unnamed: [LedgerRow], before: [LedgerRow] = [],
        hoursLater: UInt32 = DeliveryDiagnosis.settlingHours + 1
    ) -> [DeliveryFinding] {
        DeliveryDiagnosis(
            of: "56c4", rows: rows, unnamed: unnamed, before: before, hour: Self.hour + hoursLater
        ).findings
    }
}
