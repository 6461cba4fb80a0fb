// The forms of a report, word for word, over one small database.
internal import Foundation
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingReport

struct ReportFormTests {
    private let database: HitsDatabase

    /// The cells of a delivery whose sender has reported nothing.
    private static let noSends = String(repeating: ",", count: 15)

    init() async throws {
        self.database = try HitsDatabase()
        try await self.database.deliver(
            (1...3).map { TestEvents.push(.received, id: $0) }
                + [TestEvents.push(.opened, id: 1), TestEvents.push(.dismissed, id: 2)]
                + [TestEvents.push(.opened, id: 9, on: .ios)]
                + [TestEvents.push(.received, id: 1, delivery: "77", product: .classic)])
        try await self.database.deliver(
            [
                TestEvents.inApp(.impression(.init()), id: 1, campaign: "Hi, \"you\""),
                TestEvents.inApp(.dismissal(.init()), id: 2, campaign: "Hi, \"you\""),
                TestEvents.inApp(.displayError(.init()), id: 3, message: "=cmd()", campaign: ""),
            ], at: HitsDatabase.receiveTime + 60_000_000)
    }

    @Test("the table")
    func table() throws {
        #expect(
            try ReportTable(self.database.report()).lines().joined(separator: "\n") == """
                Push notifications by delivery, all that was received

                tenant   delivery  product   impressions  clicks  dismissals  opens  clicked of shown   dismissed of shown  opened of shown    iOS impressions  clicks  dismissals  opens
                default  56c4      standard            3       2           1      1  ██████▋░░░ 66.7 %  ███▍░░░░░░ 33.3 %   ███▍░░░░░░ 33.3 %                0       1           0      1
                default  77        classic             1       0           -      -  ░░░░░░░░░░ 0.0 %   -                   -                                0       0           -      -

                Clicks are openings and dismissals together. Ratios are per notification
                shown, without iOS, which does not report every impression. Classic counts
                neither opens nor dismissals.

                In-app messages, all that was received

                tenant   campaign   message  impressions  clicks  dismissals  errors  triggered  suppressed  click-through     dismissal rate
                default  Hi, "you"  welcome            1       0           1       0          0           0  ░░░░░░░░░░ 0.0 %  ██████████ 100.0 %
                default  -          =cmd()             0       0           0       1          0           0  -                 -
                """)
    }

    @Test("the sheet: quoted where it must be, and no formula")
    func sheet() throws {
        #expect(
            try ReportSheet(self.database.report()).lines() == [
                "section,tenant,app,product,id,campaign,notifications,impressions,"
                    + "unique_impressions,clicks,unique_clicks,opens,unique_opens,"
                    + "ios_notifications,ios_impressions,ios_unique_impressions,ios_clicks,"
                    + "ios_unique_clicks,ios_opens,ios_unique_opens,button_1,button_2,closes,"
                    + "recipients,dismissals,display_errors,impression_ratio,click_ratio,"
                    + "open_ratio,dismissal_ratio,first_received,last_received,name,delivered,"
                    + "reach_ratio,unique_dismissals,ios_dismissals,ios_unique_dismissals,"
                    + "attempted,sent,failed,skipped,undelivered,ios_attempted,ios_sent,"
                    + "ios_failed,ios_skipped,ios_undelivered,delivered_rate,"
                    + "impressions_of_delivered,ios_impressions_of_delivered,open_rate,"
                    + "click_through_rate,nothing_shown,ios_nothing_shown,triggered,suppressed",
                "push,default,,standard,56c4,,3,3,3,2,2,1,1,1,0,0,1,1,1,1,0,0,0,,1,,1.0,0.6667,"
                    + "0.3333,0.3333,2027-01-15T08:00:00.000Z,2027-01-15T08:00:00.000Z,,,,1,0,0"
                    + Self.noSends + ",0,0,,",
                "push,default,,classic,77,,1,1,1,0,0,,,0,0,0,0,0,,,0,0,0,,,,1.0,0.0,,,"
                    + "2027-01-15T08:00:00.000Z,2027-01-15T08:00:00.000Z,,,,,," + Self.noSends
                    + ",0,0,,",
                "in_app,default,,firebase,welcome,\"Hi, \"\"you\"\"\",,1,,0,,,,,,,,,,,,,,0,1,0,,"
                    + "0.0,,1.0,2027-01-15T08:01:00.000Z,2027-01-15T08:01:00.000Z,,,,,,"
                    + Self.noSends + ",,,0,0",
                "in_app,default,,firebase,'=cmd(),,,0,,0,,,,,,,,,,,,,,0,0,1,,,,,"
                    + "2027-01-15T08:01:00.000Z,2027-01-15T08:01:00.000Z,,,,,," + Self.noSends
                    + ",,,0,0",
            ])
    }

    @Test(
        "a mark that is one character with its neighbour is quoted all the same",
        arguments: [
            ("\"\u{301}", "\"\"\"\u{301}\""), ("\u{600}\"", "\"\u{600}\"\"\""),
            ("\u{600}\",=1+1,\u{600}\"", "\"\u{600}\"\",=1+1,\u{600}\"\"\""),
            (",\u{301}", "\",\u{301}\""), ("\u{600},", "\"\u{600},\""),
            ("a\r\nb", "\"a\r\nb\""), ("\r\n=1", "\"'\r\n=1\""), ("\u{600}\r", "\"\u{600}\r\""),
            ("=\u{301}1", "'=\u{301}1"), ("@\u{301}\"\u{301}", "\"'@\u{301}\"\"\u{301}\""),
            ("a\u{301}", "a\u{301}"),
        ] as [(String, String)])
    func neighbours(text: String, cell: String) {
        // By bytes: equal texts may have others.
        #expect(Array(ReportSheet.text(text).utf8) == Array(cell.utf8))
    }

    @Test("the JSON, whose keys and nulls are stable")
    func json() throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys]
        let report = try self.database.report {
            $0.delivery = "77"
            $0.since = HitsDatabase.receiveTime
        }
        #expect(
            String(decoding: try encoder.encode(report), as: UTF8.self) == """
                {"deliveries":{"count":1,"hits":1,"left_out":0,"rows":[{"attempted":null,\
                "button1":0,"button2":0,"click_ratio":0,"click_through_rate":null,"closes":0,\
                "delivered":null,"delivered_rate":null,"delivery_id":"77",\
                "dismissal_ratio":null,"failed":null,\
                "first_received":"2027-01-15T08:00:00.000Z","impression_ratio":1,\
                "impressions_of_delivered":null,\
                "ios":{"attempted":0,"clicks":0,"failed":0,"impressions":0,"nothing_shown":0,\
                "notifications":0,"opens":0,"sent":0,"skipped":0,"unique_clicks":0,\
                "unique_impressions":0,"unique_opens":0},"ios_impressions_of_delivered":null,\
                "last_received":"2027-01-15T08:00:00.000Z","open_rate":null,"open_ratio":null,\
                "others":{"attempted":0,"clicks":0,"failed":0,"impressions":1,"nothing_shown":0,\
                "notifications":1,"opens":0,"sent":0,"skipped":0,"unique_clicks":0,\
                "unique_impressions":1,"unique_opens":0},"product":"classic",\
                "reach_ratio":null,"sent":null,"skipped":null,"tenant":"default",\
                "undelivered":null}]},\
                "in_app_messages":{"count":0,"hits":0,"left_out":0,"rows":[]},\
                "notes":[],"quality":null,"since":"2027-01-15T08:00:00.000Z","until":null}
                """)
    }
}
