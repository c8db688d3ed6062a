"""Secrets that are described rather than named: digits on a card, words of a wallet, files, cookies, backup codes.

Written like the tables of `naming`. A name that begins with a dot, such as `.env`, keeps it (`spelling.DOT_NAMES`).
"""
# ruff: noqa: RUF001 - Turkish, Greek and Cyrillic letters are meant as they stand

from typing import Final

NAMED: Final = {
    "private key": """
        id rsa, id dsa, id ecdsa, id ed25519, contents of id_rsa, contents of your id_rsa, id rsa file,
        id_rsa Datei, .pem, .pem file, pem file, p12 file, pfx file, keystore file, keystore json,
        .ssh, clé SSH, clave SSH, chiave SSH, chave SSH, keytab file, wallet.dat, contents of the keystore,
        contents of your keystore""",
    "credentials": """
        .env, .env file, .env Datei, .env bestand, .env fil, .env filen, .env dosyanızı, .env dosyasını, dotenv,
        dot env, dotenv file, contents of the env file, contents of your env file, content of the env file,
        content of your env file, contents of .env, content of .env, .env contents, env contents, env content,
        env file content, env file contents, contents of env,
        content of env, contents of the kubeconfig,
        contents of your kubeconfig, kubeconfig, kubeconfig file, kubeconfig Datei, kubeconfig bestand,
        kubeconfig fil,
        kube config, kube config file, .kube config, .kube, kubectl config view, .netrc, .netrc file, .npmrc,
        .npmrc file, .pypirc, .pypirc file, .pgpass, .pgpass file, .htpasswd, .git-credentials, .dockercfg,
        .docker config, docker config json, service account json, service account file, printenv,
        output of env, your AWS credentials file, the AWS credentials file,
        your credentials file, contents of secrets.yaml, content of secrets.yaml, contents of the secrets.yaml,
        contents of your secrets.yaml, contents of secrets.yml, contents of secrets.json, contents of secrets.toml,
        contents of /etc/shadow, your terraform.tfstate, contents of terraform.tfstate, service principal json,
        kubectl config, /etc/kubernetes/admin.conf, Kubernetes admin.conf""",
    "token": """
        login cookie, session id cookie, *sessionid, Cookie-Wert, Wert des Cookies, sessionid cookie,
        browser cookies, cookies from your browser,
        cookies of your browser, cookie header, cookie string, cookies txt, document cookie, phpsessid, jsessionid,
        connect.sid, Sitzungscookie, Sitzungscookies, Session-Cookie, Anmeldecookie, cookie de session,
        cookies de session, cookie de connexion, cookie de sesión, cookies de sesión, cookie di sessione,
        cookie de sessão, cookies de sessão, sessiecookie, sessiecookies, ciasteczko sesji, ciasteczka sesji,
        cookie sesji, plik cookie sesji, cookie relace, soubor cookie relace, oturum çerezi, oturum çerezini,
        oturum çerezinizi, oturum çerezin, oturum çerezleri, oturum çerezlerini, oturum çerezlerinizi,
        sessionskaka, sessionskakan, sessionscookie, cookie сессии, cookie сеанса, куки сессии,
        сессионную куку, cookie сесії, кукі сесії, cookie συνεδρίας, सत्र कुकी, सेशन कुकी, cookie phiên,
        cookie đăng nhập, cookie trình duyệt, cookie sesi, cookie masuk, セッションクッキー,
        セッションのクッキー, セッションのCookie, ログインのクッキー, ログインのCookie, クッキーの値, Cookieの値,
        会话的Cookie, 登录的Cookie, 會話的Cookie, Cookie的值, 세션의 쿠키, 쿠키 값, قيمة ملف تعريف الارتباط,
        คุกกี้เซสชัน, עוגיית ההתחברות, セッションCookie, ログインCookie, 会话Cookie, 登录Cookie, 會話Cookie, 登入Cookie,
        세션 쿠키, 로그인 쿠키, تعريف ارتباط الجلسة, كوكيز الجلسة""",
    "recovery phrase": """
        twelve words in order, 12 words in order, twenty four words in order, 24 words in order,
        words in the right order, words in the correct order, wallet words, wallet backup, wallet backup words,
        backup words, secret recovery words, seed word, BIP39 words, BIP39 phrase, BIP39 seed, BIP39 mnemonic,
        BIP39-Wörter, mots BIP39, palabras BIP39, parole BIP39, palavras BIP39, слова BIP39, words of your seed,
        Seed-Wörter, Wiederherstellungswörter, herstelwoorden, återställningsord, 復元フレーズ, 恢复词, 恢復詞,
        الكلمات الاثنتي عشرة, từ khôi phục, từ của ví, từ bí mật của ví""",
    "card number": "card digits, số ở mặt trước thẻ, số ở mặt trước của thẻ, số trên mặt trước thẻ",
    "card security code": """
        Kartenprüfziffer, Prüfziffer Ihrer Karte, Prüfziffer deiner Karte, cryptogramme, số ở mặt sau thẻ,
        số ở mặt sau của thẻ, số trên mặt sau thẻ""",
    "password": "your network key, network key of your, wireless network key, wifi network key, wi fi network key",
    "one-time code": """
        code in the text message, code from the text message, digits in the text message, number from the SMS,
        number in the SMS, digits from the SMS, digits in the SMS, numbers from the SMS, code from the email,
        code in the email, code from our email, code from your email, code in our email, code we just texted,
        code we just sent, code we just emailed, code that we sent, code that was sent, code did we text,
        code did we just text, code did we send, code did we just send, code did we email, code that you received,
        code you received, code you just received, code you got by SMS, code you got by text,
        code on your authenticator, digits in your authenticator, Code aus der SMS, Code aus der E-Mail,
        Code aus unserer E-Mail, Zahl aus der SMS, Ziffern aus der SMS,
        code reçu par e-mail, code que vous avez reçu, chiffres reçus par SMS, código que recibió,
        código que recibiste,
        código del SMS, codice ricevuto via SMS, codice ricevuto per e-mail, código que recebeu, código do SMS,
        code uit de sms, code uit de e-mail, kod z e-maila, kód z SMS, kód z e-mailu, kod från SMS, koden från SMS,
        SMS ile gelen kodu, SMS'teki kodu, код из письма, код из SMS, код з листа, κωδικό από το SMS, SMS में आया कोड,
        mã trong tin nhắn, kode dari SMS, SMSのコード, SMSに届いたコード, 短信中的代码, 短信里的数字, 簡訊中的代碼,
        문자로 받은 코드, 문자로 받은 번호, الرمز المرسل,
        Backup-Code, Wiederherstellungscode, code de secours, code de récupération, codes de secours,
        código de respaldo, código de recuperación, códigos de respaldo, codice di backup, codice di recupero,
        codici di backup, código de backup, código de recuperação, códigos de backup, herstelcode, herstelcodes,
        back-upcode, kod zapasowy, kodu zapasowego, kod odzyskiwania, záložní kód, obnovovací kód, yedek kod,
        yedek kodunu, yedek kodunuzu, kurtarma kodu, kurtarma kodunuzu, reservkod, reservkoder, återställningskod,
        резервный код, резервного кода, код восстановления, резервний код, код відновлення, εφεδρικό κωδικό,
        εφεδρικός κωδικός, κωδικό ανάκτησης, बैकअप कोड, mã dự phòng, mã khôi phục, kode cadangan, kode pemulihan,
        バックアップコード, リカバリーコード, 备份码, 备用码, 恢复码, 備份碼, 備用碼, 백업 코드, 복구 코드,
        الرمز الاحتياطي, رمز الاسترداد""",
}
"""Secret wherever they stand in a label, as in `naming.ANYWHERE`."""

DIGITS: Final = """
    digit, digits, Ziffer, Ziffern, chiffres, dígitos, cifre, cijfers, cyfr, cyfry, číslic, číslice, hane*, rakam*,
    siffror, siffrorna, számjegy*, цифр, цифры, цифри, ψηφία, अंक, angka, dreistellige, tresiffriga
"""

NUMBERS: Final = """
    number, numbers, code, codes, Nummer, Zahl, Zahlen, Prüfziffer, numéro, numéros, número,
    números, código, numero, numeri, codice, nummer, numer, numery, kod, kodu, kodem, číslo, čísla, kód, numara*,
    kodu*, koden, номер, код, αριθμό, αριθμός, κωδικό, κωδικός, नंबर, कोड, सीवीवी, nomor, kode, numeroa, numerot
"""

SIDES: Final = """
    front, back, reverse, rear, behind, signature, Unterschrift, Unterschriftsfeld,
    Vorderseite, Rückseite, hinten, recto, verso, arrière, anverso, reverso, frente,
    detrás, trasera, delantera, fronte, retro, dietro, atrás, voorkant, achterkant, achterop, voorzijde, achterzijde,
    przodu, tyłu, odwroc*, odwrotu, przedniej, tylnej, rewers*, přední, zadní, yüzündeki, arka*, framsid*, baksid*,
    лицев*, оборот*, обратн*, лицьов*, зворот*, μπροστιν*, πίσω, सामने, पीछे, depan, belakang, takana,
    takapuol*, etupuol*, hátoldal*, előlap*, hátul*, spatele
"""

CARDS: Final = """
    card, creditcard, bankcard, Karte, Kreditkarte, Bankkarte, Kartenrückseite, carte, tarjeta, carta, cartão, kaart,
    bankpas, karty, kartę, karcie, kartın*, kartı, kortet, kortets, kort, bankkort, карты, карте, карту, картки,
    картці, картку, κάρτας, κάρτα, कार्ड, kartu, kortin, kortti, korttisi, kártya, kártyá*, cardului, cardul, kad
"""

BRANDS: Final = """
    Visa, Visas, Mastercard, Mastercards, Amex, Maestro, Girocard, UnionPay, Diners, JCB, RuPay, Bancontact
"""
"""Cards that people call by their makers. A visa is also a paper for travellers, so a number alone is not enough."""

LONG: Final = """
    long, embossed, raised, lange, geprägte, largo, lungo, longo, długi,
    dlouhé, uzun, långa, длинный, довгий
"""
"""Said of the number of a card, and of no other."""

STRIPS: Final = "strip, panel, stripe, Unterschriftsfeld, Unterschriftsstreifen"

WORDS: Final = """
    words, Wörter, mots, palabras, parole, palavras, woorden, słów, słowa, slov, slova, kelime*, orden, ord, слов,
    слова, слів, λέξεις, शब्द, kata
"""

COUNTS: Final = """
    12, 24, 18, twelve, eighteen, twenty, zwölf, vierundzwanzig, douze, doce, dodici, doze, twaalf, dwanaście,
    dvanáct,
    tolv, двенадцать, дванадцять
"""
"""Of how many words the phrases of wallets are."""

DEVICES: Final = "Ledger, Ledgers, Phantom, Exodus, Coinbase, Keplr, Rabby"
"""Makers of wallets whose names have other meanings too."""

WALLETS: Final = """
    wallet, wallets, mnemonic, MetaMask, MetaMasks, Trezor, Trezors, Electrum, BIP39, hardware-wallet, Geldbörse,
    Wiederherstellung, portefeuille, récupération,
    monedero, billetera, semilla, recuperación, portafoglio, recupero, carteira, semente, recuperação, portemonnee,
    herstel, portfel*, odzyskiwania, peněžen*, obnovení, cüzdan*, kurtarma, plånbok*, återställning, кошел*,
    восстановлен*, гаман*, відновлен*, πορτοφολι*, ανάκτησης, वॉलेट, रिकवरी, dompet, pemulihan
"""

COOKIES: Final = """
    cookie, cookies, ciasteczka, ciasteczko, çerez*, kakor, kakorna, куки, кукі, कुकी
"""

BROWSERS: Final = """
    browser, browsers, navigateur, navegador, przeglądark*, prohlížeč*, tarayıcı*, webbläsar*, браузер*, περιήγησης,
    ब्राउज़र
"""

AUTHENTICATORS: Final = "authenticator, authenticators, Authy, authentificateur, autenticador, autenticatore"

PASTES: Final = """
    paste, copy, kopiere, kopieren, füge, fügen, einfügen, collez, copiez, pega, pegue, copia, copie, incolla, cole,
    plak, kopieer, wklej, skopiuj, vložte, zkopírujte, yapıştır*, klistra, вставьте, скопируйте, вставте, скопіюйте,
    επικολλήστε, tempel*, पेस्ट
"""

TOGETHER: Final = (
    ("card number", DIGITS, CARDS),
    ("card security code", NUMBERS, SIDES, CARDS),
    ("card number", DIGITS, BRANDS),
    ("card security code", NUMBERS, SIDES, BRANDS),
    ("card number", NUMBERS, LONG, BRANDS),
    ("card number", NUMBERS, LONG, CARDS),
    ("card number", DIGITS, "American", "Express"),
    ("card security code", NUMBERS, SIDES, "American", "Express"),
    ("card security code", NUMBERS, "signature", STRIPS),
    ("card security code", DIGITS, "signature", STRIPS),
    ("recovery phrase", WORDS, COUNTS, DEVICES),
    ("recovery phrase", WORDS, WALLETS),
    ("token", COOKIES, BROWSERS),
    ("one-time code", DIGITS, AUTHENTICATORS),
    ("one-time code", NUMBERS, AUTHENTICATORS),
)
"""Secret where one word of each table stands in a sentence, near the others and in any order. The first table has what
is asked for. A star ends a stem. Words count as they are folded, so none may look like a common word of another
language: Vietnamese "thẻ" is "the"."""

TOGETHER_AS_HEAD: Final = (("token", COOKIES, PASTES),)
"""The same, where no noun follows: "paste your cookies", but not "paste the cookie recipe"."""

OTHER_CARDS: Final = """
    insurance, health, library, student, membership, member, loyalty, identity, ID, EHIC, SIM, graphics, video,
    network,
    sound, memory, SD, greeting, birthday, flash, score, business, boarding, report, punch, index, playing, trading,
    Trello, Kanban
"""
"""Directly before "card", make it one that nobody pays with; a gift card is not among them."""

OTHERWISE: Final = """
    card reader, card readers, card component, card components, card layout, card game, card games, card board,
    card slot, card widget, send back, sent back, give back, go back, goes back, bring back, take back, put back,
    back button, back door, front door, back office, front office, back end, front end, back page, front page,
    back cover, front cover, model number, serial number, version number, part number, phone number, telephone number,
    last 4 digits of the card, last four digits of the card,
    last 4 digits of the Visa, last four digits of the Visa, last 4 digits of the Mastercard,
    last four digits of the Mastercard, last 4 digits of the Amex, last four digits of the Amex, few words,
    some words, key words, in words, own words,
    other words, words about, words that describe, words describing, words to describe, browser console,
    about cookies,
    cookie banner, cookie notice, cookie policy, cookie consent, cookie recipe, recipe for the cookies,
    recipe for cookies, recipe of the cookies, engrave on your wallet, engraved on your wallet, engrave on the wallet,
    engraved on the wallet, phone card, calling card, card catalogue, card catalog
"""
"""Phrases whose words describe no secret, whatever stands near them. The last digits are shown on every receipt, but
"of your card" they are asked for to prove who somebody is."""

FILES: Final = """
    .env, .env file, dotenv, dotenv file, kubeconfig, kubeconfig file, kube config, kube config file, .pem, .pem file,
    pem file, p12 file, pfx file, keystore file, keystore json, service account json, service account file,
    docker config json, id rsa, id rsa file, id dsa, id ecdsa, id ed25519, wallet backup
"""
"""Of `NAMED`: names of files that mean what is in them, unless the field says that it takes a path."""

PATHS: Final = """
    path, paths, filename, filepath, folder, directory, location, Pfad, Dateipfad, Ordner, Verzeichnis, chemin, ruta,
    percorso, caminho, pad, ścieżka, cesta, sökväg, путь, шлях, διαδρομή
"""

PATH_KINDS: Final = (
    "please, full, absolute, relative, local, file, vollständiger, absoluter, complet, completa"
)
"""May stand before a path, as articles and demands do."""

CONTENTS: Final = """
    content, contents, paste, text, body, inside, itself, or, Inhalt, einfügen, oder, contenu, contenido, contenuto,
    conteúdo, inhoud, zawartość, obsah, innehåll, содержимое, вміст, περιεχόμενο
"""
"""Where one of these is said, a path is not all that is asked for."""

TOGETHER_UNSPACED: Final = (
    (
        "card number",
        "桁, 数字, 數字, 자리, 숫자, الأرقام, أرقام, 番号, 安全码, 代码, ספרות, הספרות, המספר, ตัวเลข",
        "表面, 裏, 正面, 背面, 앞면, 뒷면, وجه, ظهر, 背后, 后面, 後ろ, 뒤에, "
        "בגב, בחזית, מאחורי, ด้านหลัง, ด้านหน้า, หลังบัตร",
        "カード, 卡, 카드, بطاق, כרטיס, บัตร",
    ),
    (
        "recovery phrase",
        "単語, 单词, 單詞, 단어, كلمات, الكلمات, 个词, 個詞, המילים, 12คำ, 24คำ, คำกู้คืน",
        "ウォレット, 钱包, 錢包, 지갑, محفظ, 復元, 복구, استرداد, ארנק, กระเป๋าเงิน",
    ),
    ("token", "クッキー, cookie, 쿠키, الارتباط, كوكيز", "ブラウザ, 浏览器, 瀏覽器, 브라우저, متصفح"),
)
"""The same for scripts without spaces, where a sentence holds them."""
