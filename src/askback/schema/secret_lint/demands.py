"""The words that ask for a secret, and those that only talk about one, in the languages people are asked in.

Written like the tables of `naming`, with commas between the phrases; tables in small pieces, because each is one
reason why a sentence does or does not ask.
"""
# ruff: noqa: RUF001 - Turkish, Greek and Cyrillic letters are meant as they stand

from typing import Final

ABOUT: Final = """
    age, algorithm, brand, change, changed, changes, charset, color, colour, company, complexity, contract,
    count, counts, creation, date, days, deadline, deletion, description, duration, encoder, endpoint,
    entropy, comment, event, explanation, expiration, expired, expires, expiry, extension, fee, fees, file,
    filename, folder, format, generator, hint, hints, history, holder, icon, id, identifier, ids, index,
    interval, issuer, item, kind, label, len, length, lengths, less, leak, leaks, lifetime, limit, limits,
    list, location, loss, manager, managers, name, names, nickname, note, owner, path, period, plan, policies,
    policy, position, prefix, protection, protected, provider, purpose, quality, quota, reason, recovery,
    removal, renewal, requirement, requirements, reset, resets, retention, reuse, revocation, role, rotation,
    rule, rules, scope, scopes, score, setting, settings, size, standard, status, store, storage, strategy,
    strength, style, summary, symbol, tip, title, ttl, txt, type, types, update, updated, usage, validity,
    vault, vendor, version, warning, Länge, Laenge, Richtlinie, Richtlinien, Regel, Regeln, Stärke, Änderung,
    Wechsel, Ablauf, Alter, Verwaltung, Verwalter, Hinweis, Grund, Art, Bezeichnung, Dauer, Rücksetzung,
    Zurücksetzung, Datei, longueur, politique, gestionnaire, durée, nom, raison, indice, réinitialisation,
    longitud, política, gestor, nombre, motivo, razón, caducidad, pista, tipo, cambio, duración, lunghezza,
    gestore, nome, durata, scadenza, comprimento, tamanho, gerenciador, validade, dica, lengte, beleid,
    beheerder, naam, reden, długość, polityka, menedżer, nazwa, powód, délka, správce, název, důvod, längd,
    hanterare, namn, uzunluğu, politikası, yöneticisi, adı, длина, длину, политика, менеджер, название, имя,
    причина, причину, срок, довжина, назва, μήκος, πολιτική, όνομα, लंबाई, नीति, नाम, context, contexts,
    Pfad, Kontext, chemin, ruta, percorso, caminho, pad, ścieżka, ścieżkę, cesta, cestu, yolu, yolunu,
    sökväg, sökvägen, путь, шлях, διαδρομή, jalur, पथ, Namen
"""
"""Said of a secret, these ask about it and not for it: `password_length`, "name of the API key"."""

ABOUT_AFTER: Final = "characters, chars, days, digits, pub, example, sample, template"
"""Ask about a secret only behind it: `password_max_characters`, but not "the first characters of your password"."""

ABOUT_MANY: Final = """
    number, amount, quantity, sum, total, Anzahl, Zahl, nombre, número, numero, aantal, liczba, počet, antal,
    sayısı, количество
"""
"""Ask about secrets only in the plural: "number of passwords", but not "number of your credit card"."""

ABOUT_BEFORE: Final = """
    max, min, maximum, minimum, total, num, count, avg, average, per, number of, how many, длина, длину,
    название, имя, причина, срок, довжина, назва, długość, nazwa, powód, délka, název, důvod, μήκος, όνομα,
    path, путь, шлях, jalur, đường dẫn, مسار
"""
"""Ask about a secret when they stand directly before it: `max_token`, "длина пароля"."""

MODIFIERS: Final = """
    a, an, min, max, minimum, maximum, minimal, maximal, minimale, maximale, mindest, last, next, default,
    average, total, avg, reset, change, rotation, expiry, recovery, manager
"""
"""May stand between a secret and what is asked about it: `password_min_length`."""

LINKS: Final = """
    of, for, to, about, behind, von, für, des, der, zum, zur, de, du, del, della, dello, di, da, do, para,
    pour, d, van, voor, för, till, dla, pro, для, от, για, του, vers, ke, k, к, до
"""
"""Between what is asked about a secret and the secret: "name of the API key"."""

JOINERS: Final = """
    and, or, plus, with, und, oder, mit, et, ou, avec, y, o, con, e, en, i, och, og, ve, и, або, или, και, और
"""
"""Begin something new: in "date of birth and password" the date is not the password's."""

ARTICLES: Final = """
    a, an, any, current, existing, her, his, its, my, new, old, our, own, personal, secret, the, their, this,
    ur, your, s, dein, deine, deinen, ihr, ihre, ihren, das, den, der, die, ein, eine, neu, neue, neues, le,
    la, les, l, un, une, votre, vos, ton, ta, nouveau, nouvelle, el, los, las, su, sus, tu, tus, nueva, nuevo,
    il, lo, tua, tuo, sua, suo, nuova, seu, seus, nova, novo, minha, uw, je, jouw, het, een, de, nieuw,
    nieuwe, twoje, twój, swoje, nowe, vaše, tvoje, své, nové, ditt, din, nytt, dit, nyt, yeni, senin, sizin,
    ваш, ваша, ваше, твой, твоя, свой, новый, новая, новий, σας, τον, την, ο, η, νέος, νέο, अपना, आपका, नया
"""
"""May stand between a word and the secret that it is about."""

FILLERS: Final = """
    again, and, below, box, confirm, confirmation, enter, field, form, here, hidden, i, input, is, it, just,
    me, mine, now, only, optional, or, p, please, pls, plz, repeat, repeated, required, retype, second,
    string, text, thanks, thank, that, too, type, value, verify, we, you, yours, t, bitte, wiederholen,
    bestätigen, und, oder, svp, confirmer, et, ou, confirmar, repetir, y, o, por, favor, conferma, e, per,
    favore, bevestig, herhaal, en, of, aub, powtórz, proszę, lub, prosím, tack, lütfen, пожалуйста, і, и, або,
    или, παρακαλώ, कृपया, hierher, ici, aquí,
    aqui, tutaj, här, buraya, сюда, сюди, εδώ
"""
"""Like articles, add nothing to a label: "Your new password, please" is still only the secret."""

FOLLOWERS: Final = """
    of, for, to, from, in, on, at, with, by, used, shown, so, because, before, after, then, when, while, if,
    which, who, where, as, until, via, into, über, für, von, aus, zu, zum, zur, im, mit, auf, pour, de, du,
    des, d, dans, avec, del, para, con, desde, di, da, do, della, per, dla, z, pro, för, från, till, og, och,
    için, для, от, из, к, на, в, з, για, από, के, लिए, का, की, को, issued, value, key, code, that, not, nicht,
    niet, goes, must, shall, should, does, did, can, could, will, would, is, are, was, has, may, including,
    containing
"""
"""May follow a secret that is the head of its phrase: "token for GitHub", "PIN of the card"."""

PREPOSITIONS: Final = """
    in, on, with, using, from, by, via, into, per, as, at, mit, auf, aus, avec, dans, con, en, com, met, uit,
    med, i, с, в, на
"""
"""Before a secret, make it a part of something else and no label: "sign in with a token"."""

DEMANDS: Final = """
    enter, re enter, reenter, type, type in, retype, provide, give, supply, paste, input, insert, share, send,
    tell, submit, write, fill in, key in, put, let me know, let us know, specify, confirm, verify, reveal,
    disclose, state, drop your, drop the, post, hand over, text me, reply with, respond with, answer with,
    copy, choose, pick, set, create your, make up, think of, say, spell, message me, dm me, forward, show me,
    add, log in with, login with, sign in with, authenticate with, authenticate using, unlock with,
    log in using, sign in using, attach, repeat, geben, gib, gebe, nenne, nennen, tippe, tippen, trage,
    tragen, teile, teilen, sende, senden, schicke, schicken, schreibe, schreiben, füge, fügen, verrate,
    verraten, wähle, wählen, hinterlege, entrez, entre, entrer, saisissez, saisis, saisir, donnez, donne,
    fournissez, fournis, fournir, indiquez, indique, tapez, tape, collez, colle, envoyez, envoie, communiquez,
    renseignez, renseigner, écrivez, choisissez, introduzca, introduce, introducir, ingrese, ingresa,
    ingresar, escriba, escribe, escribir, proporcione, proporciona, proporcionar, indica, pegue, pega, envíe,
    envía, digite, digita, dame, dime, deme, dígame, facilite, teclee, comparte, comparta, inserisci,
    inserire, inserisca, immetti, immettere, digitare, fornisci, fornire, fornisca, scrivi, scriva, incolla,
    incollare, invia, dammi, dimmi, mi dia, comunica, insira, introduza, informe, forneça, escreva, cole,
    envie, inserir, digitar, fornecer, informar, diga, voer, vul, typ, geef, plak, stuur, noem, verstrek,
    podaj, podać, wpisz, wprowadź, wklej, prześlij, wyślij, napisz, proszę podać, zadejte, zadej, zadajte,
    vložte, vlož, napište, uveďte, pošlete, vyplňte, ange, skriv, mata, fyll, klistra, skicka, uppge, indtast,
    indsæt, oppgi, angi, tast, syötä, kirjoita, liitä, adja meg, add meg, írja, introduceți, introdu, dați,
    unesite, upišite, введите, введи, ввести, укажите, укажи, напишите, напиши, вставьте, вставь, пришлите,
    пришли, сообщите, сообщи, предоставьте, отправьте, дайте, назовите, наберите, скажите, введіть, вкажіть,
    напишіть, вставте, надішліть, надайте, повідомте, въведете, посочете, εισάγετε, εισαγάγετε,
    πληκτρολογήστε, δώστε, γράψτε, επικολλήστε, στείλτε, nhập, cung cấp, masukkan, ketik, berikan, dán,
    sao chép, tempel, tempelkan, salin, kopiere, kopieren, copiez, copie aquí, copie aqui, copie su,
    copie tu, copie seu, copie sua, copia qui, copia aquí, copia il tuo, copia la tua, copia tu, kopieer,
    skopiuj, zkopírujte, zkopíruj, kopiera, скопируйте, скопируй, скопіюйте, αντιγράψτε, read me, read out,
    list your, list all, hand me, hand us, pass me, show us, read us, type out, copy out, envíame, mándame, manda,
    upload
"""
"""Said to a person, these ask for what follows; said of ourselves ("shall I send the token?") they do not."""

WANTS: Final = """
    what is, what s, whats, what are your, what are the, what was, what would be, i need, we need, i want,
    we want, i require, we require, need your, needs your, requires your, requires a, requires an,
    requires the, needs a, needs an, needs the, i would like, i d like, we would like, ask for, asking for,
    asks for, ask you for, requesting, request your, may i have, can i have, could i have, can i get,
    could i get, may i get, can we have, could we have, may we have, let me have, let me see, can i see,
    may i see, i have to know, i need to know, need to have, must have your, want your, waiting for your,
    looking for your, remind me of, prompt for, was ist, wie lautet, wie lauten, wie ist, ich brauche,
    wir brauchen, benötige, benötigen, brauche, ich benötige, quel est, quelle est, quels sont, quelles sont,
    j ai besoin, nous avons besoin, il me faut, cuál es, cuáles son, necesito, necesitamos, qual è,
    quali sono, ho bisogno, mi serve, abbiamo bisogno, qual é, quais são, preciso, precisamos, wat is,
    wat zijn, ik heb, jakie jest, jaki jest, jakie masz, potrzebuję, potrzebny, jaké je, jaký je, aké je,
    potřebuji, vad är, jag behöver, hvad er, hva er, mikä on, tarvitsen, mi a, care este, какой у вас,
    какой у тебя, каков, какой ваш, мне нужен, нам нужен, мне нужны, нужен ваш, який у вас, який ваш,
    мені потрібен, ποιος είναι, ποιο είναι, ποια είναι, χρειάζομαι, apa
"""
"""Ask for what follows, whoever is said to want it."""

DEFINITIONS: Final = """
    what is a, what is an, what s a, what s an, was ist ein, was ist eine, qué es un, qué es una, cos è un
"""
"""Ask what a thing is, and not for one."""

AFTERS: Final = """
    required, is required, needed, requested, goes here, must be entered, must be provided, to be entered,
    to be provided, mandatory, eingeben, angeben, eintragen, eintippen, mitteilen, nennen, erforderlich,
    benötigt, notwendig, senden, schicken, einfügen, requis, requise, nécessaire, obligatoire, requerida,
    requerido, necesaria, obligatoria, richiesta, richiesto, necessaria, obbligatoria, obrigatória,
    necessária, invoeren, in te voeren, invullen, opgeven, vereist, nodig, verplicht, wymagane, wymagany,
    potrzebne, vyžadováno, povinné, krävs, kræves, kreves, vaaditaan, girin, giriniz, gir, yazın, yazınız,
    yaz, yapıştırın, paylaşın, gönderin, belirtin, nedir, gerekli, söyleyin, требуется, нужен, обязателен,
    потрібен, απαιτείται, दर्ज, डालें, डालिए, बताएं, बताइए, दें, दीजिए, लिखें, भरें, प्रदान, क्या है, आवश्यक,
    là gì, पेस्ट, चिपकाएं, चिपकाएँ, kopyalayın
"""
"""Ask for the secret before them: "Passwort eingeben", "şifrenizi girin", "API key required"."""

IT: Final = """
    paste it, paste them, paste here, paste below, enter it, enter them, type it, send it to me,
    give it to me, share it with me, send me it, provide it, put it here, put it below, submit it,
    copy it here, copy it below, fill it in, tell me it, insert it, drop it here
"""
"""Ask for what was named before: "Create a token on GitHub. Paste it here."."""

WHICH: Final = """
    what, which, welches, welcher, welchen, quel, quelle, qué, cuál, quale, qual, welk, jakie, jaké, vilket,
    hangi, какой, який, ποιο
"""
"""Ask when the secret follows at once and nothing is to be done to it: "which password do you use"."""

NEGATIONS: Final = """
    do not, dont, don t, never, never ever, must not, mustnt, mustn t, should not, shouldnt, shouldn t,
    will not, wont, won t, cannot, can not, cant, can t, need not, neednt, no need to, not have to,
    not need to, t have to, t need to, not required to, tried to, tries to, without, not to, refuse to, nicht,
    niemals, nie, no, non, não, nunca, mai, jamais, ne jamais, ne pas, niet, nooit, nigdy, nikdy, ne, inte,
    aldrig, ikke, не, никогда, ніколи, μη, μην, न, मत, không, jangan, đừng
"""
"""Directly before a demand; "why not enter" and "do not hesitate to enter" stay demands."""

NEGATED_AFTER_DEMAND: Final = "pas, jamais, nooit, nie, niemals, aldrig, nicht, ikke, inte, niet"
"""Directly behind a demand: "n'entrez pas", "ange inte"."""

COUNTED: Final = """
    two, three, four, five, six, eight, ten, twelve, sixteen, twenty, first, last, zwei, drei, vier, sechs, letzten,
    zwölf, trois, quatre, douze, tres, cuatro, doce, tre, quattro, dodici, três, quatro, doze, drie, twaalf, trzy,
    cztery, dwanaście, tři, čtyři, dvanáct, fyra, tolv, üç, dört, on iki, три, четыре, чотири, двенадцать
"""
"""May stand between "which" and a secret of several parts: "which three digits"."""

NO_SECRET: Final = """
    not, no, without, never, except, rather than, instead of, other than, kein, keine, keinen, ohne, nicht,
    sans, pas, pas de, sin, non, senza, sem, não, geen, zonder, bez, nie, utan, inte, uden, uten, ikke, без,
    не, χωρίς, होने, बिना, đừng, jangan, لا, niet
"""
"""Directly before a secret, with nothing but an article between: "your name, not your password"."""

NO_SECRET_AFTER: Final = """
    nicht ein, nicht an, hier nicht ein, hier nicht an, nicht preis, nicht weiter, niet in, hier niet in,
    inte här, ikke her, मत
"""
"""Directly behind a secret: "geben Sie Ihr Passwort nicht ein"."""

BUT: Final = "but, instead, rather, sondern, sino, mais, ma, mas, maar, ale, utan, men, но"
"""Turn a refused demand round: "do not type your name but your password"."""

CLAUSES: Final = """
    to get, to receive, to obtain, why, whether, if, when, after, before, while, how, who, whom, whose, which,
    what, where, because, since, until, unless, although, does, did, that the, that a, that an, that all,
    that your, that this, that these, that we, that you, that i, that it, warum, ob, wenn, wie, wer, dass,
    weil, pourquoi, si, quand, comment, qui, que, parce, cuando, por qué, cómo, quién, porque, perché, quando,
    chi, waarom, wanneer, hoe, dlaczego, czy, kiedy, jak, kto, proč, zda, jestli, kdy, varför, om, när, hur,
    почему, если, когда, как, кто, что, чому, якщо, γιατί, πότε, πώς
"""
"""Begin a thought of their own, so that what follows is no longer what was demanded."""

MENTIONS: Final = """
    abort, acquire, approve, archive, archived, audit, bad, block, blocked, broken, build, call, cancel,
    changed, check, checking, clear, compare, compromised, contains, convert, create, created, creates, count,
    counting, counts, deactivate, decrypt, delete, deleted, deleting, deletion, deny, detect, deploy,
    detected, disable, disabled, describe, discard, does, done, drop, extract, find, encrypt, encrypted,
    exists, expire, expired, expires, expiring, exposed, failed, fix, forget, forgot, forgotten, found,
    export, generate, generated, got, happened, hide, holds, hash, ignore, investigate, import, incorrect,
    invalid, keep, leak, leaked, list, load, loaded, log, logging, look, lost, make, mask, matches, mean, mention,
    mentioned, mentions, migrate, missing, monitor, move, moved, open, owns, parse, print, protect, publish,
    purge, push, read, reads, redact, regenerate, refresh, refreshed, rejected, remove, removed, removing,
    rename, renew, renewed, replace, replaced, report, reset, resetting, restore, retrieve, return, returns,
    review, revoke, revoked, revoking, rotate, rotated, rotating, rotation, save, saved, scan, search, sign,
    skip, spend, stolen, stop, store, stored, stores, storing, swap, sync, test, trim, update, updated,
    updating, upload, wait, wipe, wrong, löschen, ändern, zurücksetzen, widerrufen, supprimer, révoquer,
    changer, eliminar, cambiar, borrar, cambiada, eliminare, cambiare, excluir, nezadávejte, trocar,
    verwijderen, wijzigen, usunąć, zmienić, zmieniono, smazat, změnit, ändra, удалить, сменить, изменить,
    изменен, изменён, сброшен, видалити, змінити, sil, değiştir, nevkládejte, neposílejte, nesdílejte
"""
"""Something happens, or happened, to a secret: talk about it, not a request for it."""

STATES: Final = """
    correct, valid, is, are, was, were, been, be, has, have, had, will, would, shall, should, can, could, may,
    does, do, did, don, i, we, wurde, ist, sind, war, soll, sollen, été, est, sont, es, fue, está, è, stata,
    stato, foi, zijn, werd, jest, został, zostało, je, bylo, är, har, er, blev, был, была, है, था
"""
"""Make a sentence of what would be a label: "your password was changed"."""

QUESTION_STARTS: Final = """
    is, are, was, were, does, do, did, should, shall, can, ist, sind, soll, sollen, darf, kann, est, es, è
"""
"""Ask whether, not what: "is a password required?"."""

OURSELVES: Final = "i, we, ich, wir, je, nous, yo, nosotros, io, noi, eu, nós, ik, wij, jag, vi, я, мы, ми"

AUXILIARIES: Final = """
    will, shall, should, can, could, may, must, would, ll, d, just, now, also, then, werde, soll, sollen,
    kann, vais, puedo, posso
"""
"""May stand between us and what we do: "we should now send the token"."""

# The same for scripts without spaces, where words are found inside a sentence.

ABOUT_UNSPACED: Final = """
    長さ, 文字数, 桁数, 数, ポリシー, 强度, 強度, 有効期限, 期限, マネージャ, 名, 種類, 种类, 类型, 類型,
    ヒント, 規則, 规则, リセット, 変更, 管理, 上限, 更新, 重置, 修改, 策略, 长度, 長度, 数量, 个数, 提示, 学,
    學, 位数, 길이, 정책, 강도, 개수, 수, 관리, 이름, 종류, 만료, 변경, 재설정, 힌트, 화,
    パスを, パスは, ファイルパス, ファイルのパス, ファイルの場所, 路径, 路徑,
    文件路径, 文件的路径, 경로, 파일 경로, 파일의 경로
"""

ABOUT_UNSPACED_BEFORE: Final = (
    "最大, 最小, 최대, 최소, 公開, 公开, طول, عدد, سياسة, اسم, سبب, אורך, מדיניות, שם, ความยาว, จำนวน"
)

GENITIVES: Final = "の的의를を는은は"
"""May stand between a secret and what is asked about it."""

ASKS_UNSPACED: Final = """
    入力, 教えて, 提供, 記入, 貼り付け, ペースト, 送って, 送信, お知らせ, 必要, 何ですか, は何, いただけ,
    設定してください, 输入, 輸入, 填写, 填寫, 告诉, 告訴, 粘贴, 貼上, 发送, 發送, 发给, 是什么, 是什麼,
    是多少, 给我, 給我, 请给, 입력, 알려, 제공, 붙여, 보내, 무엇, 적어, 말해, 필요, 뭐, 주세요, أدخل, ادخل,
    إدخال, اكتب, أرسل, الرجاء, يرجى, ما هي, ما هو, قدم, أعطني, زود, أخبرن, وارد کنید, הזן, הזינו, הכנס, הקלד,
    הקלידו, מהי, מה ה, שלח, גרור, กรอก, ใส่, ป้อน, ระบุ, พิมพ์, الصق, ألصق, لصق, 复制到, 複製到, コピーして, 복사
"""

NEGATED_UNSPACED: Final = """
    ないで, しない, 不要です, 必要ありません, 不要输入, 不要輸入, 勿, 别, 不要提供, 无需, 不需要, 不要在,
    지 마, 지마, 않, 불필요, 없이, لا تدخل, لا تكتب, لا ترسل, لا تقدم, بدون, אל ת, ללא, อย่า, ไม่ต้อง, لا تلصق,
    لا تشارك, لا تنسخ
"""

FILLERS_UNSPACED: Final = """
    请, 請, 您的, 你的, 的, は, を, の, お, ご, あなた, ください, 下さい, 新しい, 新, 는, 은, 을, 를, 당신의,
    새, الخاصة بك, الجديدة, ใหม่
"""
