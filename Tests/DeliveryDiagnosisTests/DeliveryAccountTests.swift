// The account of a delivery: its rows, those that may be its own, and the limits of both.
@testable internal import DeliveryDiagnosis
internal import Foundation
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

struct DeliveryAccountTests {
    /// A ledger in which each count is of another hour.
    private static func ledger(
        _ counts: [(tenant: String, delivery: String, outcome: LedgerOutcome, rows: Int)]
    ) -> Ledger {
        var delta = LedgerDelta()
        for count in counts {
            let subject = "com.example.app".withBytes { app in
                count.delivery.withBytes {
                    LedgerSubject(
                        platform: .android, product: .standard, app: app, delivery: $0
                    ).bytes
                }
            }
            for number in 0..<count.rows {
                delta.add(
                    count.tenant.withBytes {
                        LedgerKey(
                            hour: 500_000, tenant: $0, subject: subject, outcome: count.outcome,
                            detail: number == 0 ? "ON" : "\(number)")
                    }, 1)
            }
        }
        var ledger = Ledger()
        ledger.apply(delta)
        return ledger
    }

    @Test(
        "a delivery is found by its id and its name in letters of any case, and else by a part",
        arguments: [
            ("56C4", ["56c4"], true), ("SPRING sale", ["56c4"], true),
            ("spring", ["56c4", "77"], false), ("6c", ["56c4"], false),
            ("\u{c9}t\u{e9}", ["e7e"], true), ("E\u{301}t\u{e9}", [], false), ("zz", [], false),
            ("", [], false),
        ] as [(String, [String], Bool)])
    func search(_ text: String, deliveries: [String], isSame: Bool) {
        let search = DeliverySearch(text)
        let known: [(String, String?)] = [
            ("56c4", "Spring sale"), ("77", "Offspring"), ("56c4", nil), ("e7e", "\u{e9}t\u{e9}"),
        ]
        let best = DeliverySearch.best(
            of: known.compactMap {
                search.candidate(tenant: "a", delivery: $0.0, name: $0.1)
            })
        #expect(best.map(\.delivery) == deliveries)
        #expect(best.allSatisfy { $0.isSame == isSame })
    }

    @Test(
        "a name is its tenant's alone, and one of an unknown tenant is for those without",
        arguments: [
            ("spring sale", ["b/56c4/Spring sale"]),
            ("56C4", ["a/56c4/-", "b/56c4/Spring sale"]),
            ("77", ["a/77/Listed", "b/77/Own"]), ("listed", ["/77/Listed"]), ("88", ["/88/Alone"]),
        ])
    func tenants(_ text: String, _ best: [String]) {
        let search = DeliverySearch(text)
        let known: [(String, String, String?)] = [
            ("a", "56c4", nil), ("b", "56c4", "Spring sale"), ("b", "56c4", nil),
            ("", "77", "Listed"), ("a", "77", nil), ("b", "77", "Own"), ("", "88", "Alone"),
        ]
        let found = DeliverySearch.best(
            of: known.compactMap {
                search.candidate(tenant: $0.0, delivery: $0.1, name: $0.2)
            })
        #expect(found.map { "\($0.tenant)/\($0.delivery)/\($0.name ?? "-")" } == best)
    }

    @Test("a delivery of two tenants is two candidates")
    func sameID() {
        let accepted = LedgerOutcome.accepted(HitKinds(.impression))
        let ledger = Self.ledger(
            ["a", "b"].map { (tenant: $0, delivery: "56c4", outcome: accepted, rows: 2) })
        let found = ledger.candidates(of: DeliverySearch("56C4"), tenant: nil)
        #expect(found.map(\.tenant) == ["a", "b"])
    }

    @Test("at most ten deliveries are proposed, and of the asked tenant alone")
    func candidates() {
        let accepted = LedgerOutcome.accepted(HitKinds(.impression))
        let ledger = Self.ledger(
            (9...20).map {
                (tenant: $0 == 9 ? "b" : "a", delivery: "d\($0)", outcome: accepted, rows: 2)
            })
        let search = DeliverySearch("D")
        #expect(ledger.candidates(of: search, tenant: nil).count == DeliverySearch.maxCandidates)
        #expect(ledger.candidates(of: search, tenant: "b").map(\.delivery) == ["d9"])
        #expect(ledger.candidates(of: DeliverySearch("D1"), tenant: "b").isEmpty)
    }

    @Test("an account looks at 5,000 rows, and says so where there is one more")
    func truncation() {
        for (rows, isTruncated) in [(5000, false), (5001, true)] {
            let ledger = Self.ledger([("a", "56c4", .refused(.rejected), rows)])
            let account = DeliveryAccount(of: "56c4", tenant: "a", in: ledger)
            #expect(account.rows.count == 5000)
            #expect(account.isTruncated == isTruncated)
        }
    }

    @Test("a tenant sees its own rows, and an operator the accounts of each that has the delivery")
    func tenants() {
        let flag = LedgerOutcome.refused(.suppressedFlagUnknown)
        let ledger = Self.ledger([
            ("a", "56c4", flag, 1), ("b", "56c4", flag, 2), ("c", "d57fd6", flag, 1),
        ])
        #expect(ledger.accounts(of: "56c4", tenant: nil).map(\.tenant) == ["a", "b"])
        #expect(ledger.accounts(of: "56c4", tenant: "b").map(\.rows.count) == [2])
        #expect(ledger.accounts(of: "56c4", tenant: "c").flatMap(\.rows) == [])
        // Nobody has it: each is told so.
        #expect(ledger.accounts(of: "56c5", tenant: nil).map(\.tenant) == ["a", "b", "c"])
        #expect(Ledger().accounts(of: "56c5", tenant: nil).map(\.tenant) == ["default"])
    }

    @Test("troubles are the findings of all deliveries, the most events first, up to a limit")
    func troubles() {
        let flag = LedgerOutcome.refused(.suppressedFlagUnknown)
        let ledger = Self.ledger([
            ("a", "56c4", flag, 1), ("b", "d57fd6", .refused(.suppressedFlagOff), 3),
            ("a", "", .refused(.suppressedConsent), 50),
            ("a", "a21f0", .accepted(HitKinds(.impression)), 9),
        ])
        let all = ledger.troubles(limit: 10)
        #expect(all.map(\.code) == ["FLAG_OFF", "FLAG_UNKNOWN"])
        #expect(all.map(\.events) == [3, 1])
        #expect(ledger.troubles(limit: 1).map(\.delivery) == ["d57fd6"])
        #expect(ledger.troubles(tenant: "a", limit: 9).map(\.delivery) == ["56c4"])
        #expect(ledger.troubles(delivery: "d57fd6", limit: 9).map(\.tenant) == ["b"])
    }

    @Test("a long id is found by all of it, though the ledger has its beginning alone")
    func longIDs() {
        let flag = LedgerOutcome.refused(.suppressedFlagOff)
        for count in [LedgerSubject.nameBytes, LedgerSubject.nameBytes + 1] {
            let id = String(repeating: "7", count: count)
            let ledger = Self.ledger([("a", id, flag, 3), ("b", "56c4", flag, 3)])
            let name = String(repeating: "7", count: LedgerSubject.nameBytes)
            #expect(ledger.troubles(delivery: id, limit: 9).map(\.delivery) == [name])
            #expect(ledger.accounts(of: id, tenant: nil).map(\.tenant) == ["a"])
        }
    }

    @Test("two ids that Unicode takes for equal are two deliveries, each with its own events")
    func spellings() {
        let flag = LedgerOutcome.refused(.suppressedFlagUnknown)
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        let ledger = Self.ledger([
            ("a", composed, flag, 2), ("b", decomposed, flag, 3), ("a", decomposed, flag, 1),
        ])
        let all = ledger.troubles(limit: 100)
        // One finding for each value of the flag.
        #expect(all.count { $0.delivery.equals(composed) } == 2)
        #expect(all.count { $0.delivery.equals(decomposed) } == 4)
        #expect(ledger.troubles(delivery: composed, limit: 100).count == 2)
        #expect(ledger.accounts(of: composed, tenant: nil).map(\.tenant) == ["a"])
        #expect(ledger.accounts(of: decomposed, tenant: nil).map(\.tenant) == ["a", "b"])
    }

    @Test("rows without a delivery are of the apps whose names have the same bytes")
    func spellingsOfApps() {
        func row(_ app: String, _ delivery: String) -> LedgerRow {
            LedgerRow(
                tenant: "a", app: app, delivery: delivery, platform: nil, product: .standard,
                hour: 2, outcome: .refused(.rejected), count: 1)
        }
        let unnamed = [row("caf\u{e9}", ""), row("cafe\u{301}", "")]
        let found = DeliveryDiagnosis.concerned(unnamed, by: [row("caf\u{e9}", "56c4")])
        #expect(found.map { Array($0.app.utf8) } == [Array("caf\u{e9}".utf8)])
    }

    @Test("a line by version or of sends says what it counts again, and by what")
    func linesCountedAgain() {
        let failed = LedgerOutcome.accepted(HitKinds(.sendFailed))
        let rows: [(LedgerOutcome, LedgerOutcome?, String, SendMark, [String?])] = [
            (
                .version, .accepted([HitKinds(.click), HitKinds(.open)]), "3.1", .none,
                ["version", "accepted click,open", "3.1", nil, nil]
            ),
            (
                .version, .refused(.rejected), "3.1", .none,
                ["version", "rejected", "3.1", nil, nil]
            ),
            (
                .send, failed, "", SendMark(reason: .invalidToken),
                ["send", "accepted send_failed", nil, "invalid_token", nil]
            ),
            (
                .send, .accepted(HitKinds(.sent)), "", SendMark(display: .system),
                ["send", "accepted sent", nil, nil, "system"]
            ),
            (.version, nil, "", .none, ["version", "", nil, nil, nil]),
        ]
        for (outcome, counted, version, mark, told) in rows {
            let line = DeliveryAccountLine.Row(
                LedgerRow(
                    tenant: "a", app: "app", delivery: "56c4", platform: .ios, product: .standard,
                    hour: 2, outcome: outcome, counted: counted, appVersion: version, mark: mark,
                    count: 5))
            #expect(
                [line.verdict, line.detail, line.appVersion, line.sendReason, line.display] == told)
        }
    }

    @Test("an account and the troubles compare with the delivery that was sent before")
    func before() {
        let sent = LedgerOutcome.accepted(HitKinds(.sent))
        let failed = LedgerOutcome.accepted(HitKinds(.sendFailed))
        let mark = String(
            decoding: [failed.rawValue, SendMark(reason: .network).rawValue], as: UTF8.self)
        var delta = LedgerDelta()
        let counts: [(String, LedgerOutcome, String, UInt32)] = [
            ("1", sent, "", 900), ("1", failed, "", 9), ("1", .send, mark, 9), ("2", sent, "", 900),
            ("2", failed, "", 90), ("2", .send, mark, 90),
        ]
        for (delivery, outcome, detail, count) in counts {
            let subject = "app".withBytes { app in
                delivery.withBytes {
                    LedgerSubject(
                        platform: .ios, product: .standard, app: app, delivery: $0
                    ).bytes
                }
            }
            delta.add(
                "a".withBytes {
                    LedgerKey(
                        hour: 500_000, tenant: $0, subject: subject, outcome: outcome,
                        detail: detail)
                }, count)
        }
        var ledger = Ledger()
        ledger.apply(delta)
        let accounts = ["1", "2"].map {
            DeliveryAccount(of: $0, tenant: "a", in: ledger, hour: 500_000).findings.map(\.code)
        }
        #expect(accounts == [[], [.sendReasonGrew]])
        let troubles = ledger.troubles(limit: 9, hour: 500_000)
        #expect(troubles.map(\.delivery) == ["2"])
        #expect(
            ledger.troubles(delivery: "2", limit: 9, hour: 500_000) == troubles)
        #expect(ledger.troubles(limit: 9, hour: 500_007).count == 2 + 1, "nothing was reported")
    }

    @Test("an account that is read has the figures of its rows, and not those of a server's build")
    func reading() throws {
        let json = #"""
            {"tenant": "a", "delivery": "56c4", "findings": [], "isTruncated": false,
            "figures": {"others": {"sent": 9}}, "rows": [{"app": "app", "delivery": "56c4",
            "platform": "ios", "product": "standard", "verdict": "accepted", "detail": "sent",
            "isOther": false, "events": 4}]}
            """#
        let line = try JSONDecoder().decode(DeliveryAccountLine.self, from: Data(json.utf8))
        #expect(line.rows.count == 1 && line.figures?.attempted == 4)
    }

    @Test("a line has all that a row has, and `other` no hour")
    func lines() {
        let rows: [(LedgerOutcome, String, String, String)] = [
            (.accepted([HitKinds(.click), HitKinds(.open)]), "", "accepted", "click,open"),
            (.duplicate(HitKinds(.inAppClick)), "", "duplicate", "in_app_click"),
            (.warning(9), "", "warning", "link_contradicts_ids"),
            (.closedImpression, "", "closed_impression", ""),
            (.sentAndFailed, "", "sent_and_failed", ""),
            (.refused(.suppressedFlagUnknown), "ON", "suppressed_flag_unknown", "ON"),
            (.refused(.rejected), "event malformed", "rejected", "event malformed"),
        ]
        for (outcome, detail, verdict, told) in rows {
            for isOther in [false, true] {
                let line = DeliveryAccountLine.Row(
                    LedgerRow(
                        tenant: "a", app: "app", delivery: "56c4", platform: .ios,
                        product: .classic, hour: 2, outcome: outcome, detail: detail,
                        isOther: isOther, count: 5))
                #expect([line.verdict, line.detail] == [verdict, told])
                #expect(line.hour == (isOther ? nil : 7200))
                #expect(
                    [line.app, line.delivery, line.platform, line.product]
                        == ["app", "56c4", "ios", "classic"])
                #expect(line.events == 5 && line.isOther == isOther)
            }
        }
    }
}
