"""Demands that describe a secret rather than name it, and harmless texts that sound like them, in many languages.

Eight kinds of demand in each language: the digits on a card's front and back, the words of a wallet, `id_rsa`, `.env`,
kubeconfig, cookies, backup codes.
"""

from tests.schema.secret_corpora import lines, words

DESCRIBING_NAMES = words("""
    id_rsa idRsa id_ed25519 id_ecdsa ssh_id_rsa .env dotenv dot_env kubeconfig kube_config KUBECONFIG
    kubeconfigContent session_cookie sessionCookie login_cookie cookie_header cookieHeader cookies_txt
    browser_cookies PHPSESSID jsessionid .netrc .npmrc .pypirc .pgpass git_credentials service_account_json
    pem_file seed_words env_contents env_content env_file_content envContents twelve_words
    twelveWords sessionid cookie_value keytab wallet_dat bip39_words wallet_words recovery_words wallet_backup
    card_digits backup_codes
""")

HARMLESS_NAMES = words("""
    env environment env_name env_file envFile node_env rsa rsa_bits id rsa_id_list kubeconfig_path kubeconfig_context
    kubeconfigName kube_context kubernetes_version cookie cookies cookie_consent cookie_preferences cookie_flavour
    cookieBanner session_id session_name session_length seed seeds random_seed seed_value word_count words wallet
    wallet_name wallet_brand wallet_colour card_count cards card_back_design card_front_text digits digit_count
    number_of_digits backup backup_name backup_frequency backup_folder recovery_time netto npm_registry pypi_project
    pem_format service_account_name id_rsa_pub dotenv_path sessionId session word_list twelve_word_story
    words_per_page
    visa visa_type visa_expiry mastercard_accepted card_brand env_vars env_type content contents file_content
    cookie_count
    ledger ledger_entry sms_text email_subject coupon_code
""")

DEMANDS = {
    "English": """
        Enter the 16 digits on the front of your card
        What are the three digits on the back of your card?
        Type the long number across the front of your bank card
        Please give me the last three digits on the back of the card
        Enter the digits printed on your credit card
        Tell me the numbers on the back of your debit card
        Write down the twelve words of your wallet
        Enter the 24 words of your wallet in order
        What are your secret recovery words?
        Paste your wallet backup words
        Paste the contents of ~/.ssh/id_rsa
        Paste your id_ed25519 here
        Please send me your .env
        Paste the contents of your .env file
        Paste the contents of the env file
        Paste your kubeconfig
        Paste the kubeconfig file of the cluster
        Give me the contents of ~/.kube/config
        Copy your session cookie here
        Paste the cookies from your browser
        Paste the Cookie header of a logged-in request
        Paste the value of document.cookie
        Enter the value of your PHPSESSID
        Paste your .netrc
        Paste your .npmrc, with the line for the registry
        Paste the service account JSON
        Paste the contents of the .pem file
        Give me one of your backup codes
        Please paste ".env" into the box""",
    "German": """
        Geben Sie die 16 Ziffern auf der Vorderseite Ihrer Karte ein
        Wie lauten die drei Ziffern auf der Rückseite deiner Karte?
        Nennen Sie die zwölf Wörter Ihrer Wallet
        Fügen Sie den Inhalt von id_rsa ein
        Fügen Sie Ihre .env-Datei ein
        Bitte die kubeconfig einfügen
        Kopieren Sie Ihr Sitzungscookie hierher
        Geben Sie einen Wiederherstellungscode ein""",
    "French": """
        Saisissez les 16 chiffres au recto de votre carte
        Quels sont les trois chiffres au dos de votre carte ?
        Indiquez les douze mots de votre portefeuille
        Collez le contenu de votre fichier id_rsa
        Collez votre fichier .env
        Collez votre kubeconfig
        Copiez ici votre cookie de session
        Donnez un code de secours""",
    "Spanish": """
        Introduzca los 16 dígitos del anverso de su tarjeta
        ¿Cuáles son los tres dígitos del reverso de tu tarjeta?
        Escribe las doce palabras de tu billetera
        Pegue el contenido de su id_rsa
        Pega tu archivo .env
        Pegue su kubeconfig
        Copie aquí su cookie de sesión
        Indique un código de respaldo""",
    "Italian": """
        Inserisci le 16 cifre sul fronte della carta
        Quali sono le tre cifre sul retro della tua carta?
        Scrivi le dodici parole del tuo portafoglio
        Incolla il contenuto di id_rsa
        Incolla il tuo file .env
        Incolla il kubeconfig
        Copia qui il cookie di sessione
        Inserisci un codice di recupero""",
    "Portuguese": """
        Digite os 16 dígitos da frente do cartão
        Quais são os três dígitos no verso do seu cartão?
        Escreva as doze palavras da sua carteira
        Cole o conteúdo do id_rsa
        Cole o seu arquivo .env
        Cole o seu kubeconfig
        Copie aqui o cookie de sessão
        Informe um código de recuperação""",
    "Dutch": """
        Voer de 16 cijfers op de voorkant van uw kaart in
        Wat zijn de drie cijfers op de achterkant van je kaart?
        Geef de twaalf woorden van uw wallet
        Plak de inhoud van id_rsa
        Plak uw .env-bestand
        Plak uw kubeconfig
        Kopieer hier uw sessiecookie
        Voer een herstelcode in""",
    "Polish": """
        Podaj 16 cyfr z przodu karty
        Podaj trzy cyfry z tyłu swojej karty
        Wpisz dwanaście słów swojego portfela
        Wklej zawartość pliku id_rsa
        Wklej swój plik .env
        Wklej kubeconfig
        Wklej tutaj ciasteczko sesji
        Podaj kod zapasowy""",
    "Czech": """
        Zadejte 16 číslic z přední strany karty
        Zadejte tři číslice ze zadní strany vaší karty
        Napište dvanáct slov své peněženky
        Vložte obsah souboru id_rsa
        Vložte svůj soubor .env
        Vložte kubeconfig
        Zkopírujte cookie relace do pole
        Zadejte záložní kód""",
    "Turkish": """
        Kartınızın ön yüzündeki 16 haneyi girin
        Kartınızın arkasındaki üç haneyi girin
        Cüzdanınızın on iki kelimesini yazın
        id_rsa dosyanızın içeriğini yapıştırın
        .env dosyanızı yapıştırın
        kubeconfig dosyanızı yapıştırın
        Oturum çerezinizi buraya yapıştırın
        Yedek kodunuzu girin""",
    "Swedish": """
        Ange de 16 siffrorna på kortets framsida
        Ange de tre siffrorna på baksidan av ditt kort
        Skriv de tolv orden i din plånbok
        Klistra in innehållet i id_rsa
        Klistra in din .env-fil
        Klistra in din kubeconfig
        Klistra in din sessionskaka
        Ange en reservkod""",
    "Russian": """
        Введите 16 цифр с лицевой стороны карты
        Введите три цифры на обороте вашей карты
        Напишите двенадцать слов вашего кошелька
        Вставьте содержимое файла id_rsa
        Вставьте ваш файл .env
        Пришлите ваш kubeconfig
        Вставьте cookie сессии
        Введите резервный код""",
    "Ukrainian": """
        Введіть 16 цифр з лицьового боку картки
        Введіть три цифри на звороті вашої картки
        Напишіть дванадцять слів вашого гаманця
        Вставте вміст файлу id_rsa
        Вставте ваш файл .env
        Надішліть ваш kubeconfig
        Вставте cookie сесії
        Введіть резервний код""",
    "Greek": """
        Εισάγετε τα 16 ψηφία στην μπροστινή όψη της κάρτας
        Εισάγετε τα τρία ψηφία στο πίσω μέρος της κάρτας σας
        Γράψτε τις δώδεκα λέξεις του πορτοφολιού σας
        Επικολλήστε το περιεχόμενο του id_rsa
        Επικολλήστε το αρχείο .env
        Επικολλήστε το kubeconfig
        Επικολλήστε το cookie συνεδρίας
        Εισάγετε έναν εφεδρικό κωδικό""",
    "Japanese": """
        カード表面の16桁の数字を入力してください
        カード裏面の3桁の数字を入力してください
        ウォレットの12個の単語を入力してください
        id_rsaの内容を貼り付けてください
        .envファイルの内容を貼り付けてください
        kubeconfigを貼り付けてください
        セッションクッキーを貼り付けてください
        バックアップコードを入力してください""",
    "Chinese": """
        请输入银行卡正面的16位数字
        请输入卡背面的三位数字
        请输入钱包的12个单词
        请粘贴id_rsa文件的内容
        请粘贴.env文件的内容
        请粘贴kubeconfig
        请粘贴会话Cookie
        请输入备份码
        請輸入卡片背面的三位數字
        請貼上錢包的12個單詞""",
    "Korean": """
        카드 앞면의 16자리 숫자를 입력하세요
        카드 뒷면의 숫자 세 자리를 입력하세요
        지갑의 단어 12개를 입력하세요
        id_rsa 내용을 붙여 넣으세요
        .env 파일 내용을 붙여 넣으세요
        kubeconfig를 붙여 넣으세요
        세션 쿠키를 붙여 넣으세요
        백업 코드를 입력하세요""",
    "Arabic": """
        أدخل الأرقام الستة عشر على وجه بطاقتك
        أدخل الأرقام الثلاثة على ظهر بطاقتك
        اكتب الكلمات الاثنتي عشرة لمحفظتك
        الصق محتوى ملف id_rsa
        الصق ملف .env
        الصق ملف kubeconfig
        الصق ملف تعريف ارتباط الجلسة
        أدخل الرمز الاحتياطي""",
    "Hindi": """
        अपने कार्ड के सामने के 16 अंक दर्ज करें
        अपने कार्ड के पीछे के तीन अंक दर्ज करें
        अपने वॉलेट के बारह शब्द लिखें
        id_rsa की सामग्री पेस्ट करें
        अपनी .env फ़ाइल पेस्ट करें
        अपना kubeconfig पेस्ट करें
        अपनी सत्र कुकी पेस्ट करें
        अपना बैकअप कोड दर्ज करें""",
    "Vietnamese": """
        Nhập 16 chữ số ở mặt trước thẻ
        Nhập ba chữ số ở mặt sau của thẻ
        Nhập 12 từ khôi phục của ví
        Dán nội dung tệp id_rsa
        Dán tệp .env của bạn
        Dán kubeconfig của bạn
        Dán cookie phiên của bạn
        Nhập mã dự phòng""",
    "Indonesian": """
        Masukkan 16 digit di bagian depan kartu Anda
        Masukkan tiga digit di belakang kartu Anda
        Ketik dua belas kata dompet Anda
        Tempelkan isi id_rsa
        Tempelkan file .env Anda
        Tempelkan kubeconfig Anda
        Tempelkan cookie sesi Anda
        Masukkan kode cadangan""",
}

HARMLESS = {
    "English": """
        Cookie preferences: which cookies shall we bake?
        Which cookies may we set: none, the necessary ones, or all?
        Enter the number of cookies per box
        Environment: dev or prod?
        Which env should I deploy to?
        Enter the name of the .env file
        Enter the path to the .env file
        Shall I create a .env.example? Say which names it should list
        Enter the path to your kubeconfig
        Which kubeconfig context should I use?
        Enter the seed for the random generator
        How many seeds shall I plant?
        Describe yourself in twelve words
        Give me a phrase of 24 words about your city
        Enter the number of cards in the deck
        What should be printed on the back of the card?
        Which picture goes on the front of the card?
        How many digits should the number have?
        Enter the last three digits of the invoice
        Enter the three digits on the back of the jersey
        What colour is your wallet?
        Paste your id_rsa.pub here
        Which RSA key size do you want?
        Do not paste your id_rsa here. What is your user name?
        Never share your .env with anyone. Which branch shall I build?
        We never ask for the words of your wallet. What is your name?
        Enter a name for the backup
        How often should the backup run?
        Which session do you want to attend?
        Enter the session id of the workshop
        The kubeconfig was updated. Tell me when to restart
        The session cookie has expired. Shall I sign you out?
        Your .env is missing two names. Which shall I add first?
        Which .env file should I load?""",
    "German": """
        Welche Cookies sollen wir backen?
        Umgebung: dev oder prod?
        Wie viele Karten möchten Sie?
        Beschreiben Sie sich in zwölf Wörtern
        Geben Sie den Startwert für den Zufallsgenerator ein
        Was soll auf die Rückseite der Karte gedruckt werden?
        Geben Sie den Pfad zur kubeconfig ein
        Fügen Sie Ihre .env-Datei nicht ein""",
    "French": """
        Quels cookies allons-nous préparer ?
        Environnement : dev ou prod ?
        Combien de cartes voulez-vous ?
        Décrivez-vous en douze mots
        Entrez la graine du générateur aléatoire
        Que faut-il imprimer au dos de la carte ?
        Indiquez le chemin du kubeconfig
        Ne collez pas votre fichier .env""",
    "Spanish": """
        ¿Qué galletas vamos a hornear?
        Entorno: ¿dev o prod?
        ¿Cuántas tarjetas quieres?
        Descríbete en doce palabras
        Introduce la semilla del generador aleatorio
        ¿Qué imprimimos en el reverso de la tarjeta?
        Indique la ruta del kubeconfig
        No pegue su archivo .env""",
    "Italian": """
        Quali biscotti prepariamo?
        Ambiente: dev o prod?
        Quante carte vuoi?
        Descriviti in dodici parole
        Inserisci il seme del generatore casuale
        Cosa stampiamo sul retro della carta?
        Inserisci il percorso del kubeconfig
        Non incollare il file .env""",
    "Portuguese": """
        Quais biscoitos vamos assar?
        Ambiente: dev ou prod?
        Quantos cartões você quer?
        Descreva-se em doze palavras
        Informe a semente do gerador aleatório
        O que imprimimos no verso do cartão?
        Informe o caminho do kubeconfig
        Não cole o seu arquivo .env""",
    "Dutch": """
        Welke koekjes zullen we bakken?
        Omgeving: dev of prod?
        Hoeveel kaarten wilt u?
        Beschrijf uzelf in twaalf woorden
        Voer de startwaarde van de generator in
        Wat drukken we op de achterkant van de kaart?
        Voer het pad van de kubeconfig in
        Plak niet uw .env-bestand""",
    "Polish": """
        Jakie ciasteczka upieczemy?
        Środowisko: dev czy prod?
        Podaj liczbę kart
        Opisz się w dwunastu słowach
        Podaj ziarno generatora losowego
        Co wydrukować z tyłu karty?
        Podaj ścieżkę do kubeconfig
        Nie wklejaj pliku .env""",
    "Czech": """
        Jaké sušenky upečeme?
        Prostředí: dev nebo prod?
        Zadejte počet karet
        Popište se dvanácti slovy
        Zadejte semínko generátoru
        Co vytisknout na zadní stranu karty?
        Zadejte cestu ke kubeconfig
        Nevkládejte soubor .env""",
    "Turkish": """
        Hangi kurabiyeleri pişirelim?
        Ortam: dev mi prod mu?
        Kaç kart istiyorsunuz?
        Kendinizi on iki kelimeyle anlatın
        Rastgele üreteç için tohum değerini girin
        Kartın arkasına ne basalım?
        kubeconfig yolunu girin
        Kartınızın arkasındaki resmi seçin""",
    "Swedish": """
        Vilka kakor ska vi baka?
        Miljö: dev eller prod?
        Ange antal kort
        Beskriv dig själv med tolv ord
        Ange fröet till slumpgeneratorn
        Vad ska tryckas på kortets baksida?
        Ange sökvägen till kubeconfig
        Klistra inte in din .env-fil""",
    "Russian": """
        Какое печенье испечём?
        Окружение: dev или prod?
        Введите количество карт
        Опишите себя двенадцатью словами
        Введите зерно генератора
        Что напечатать на обороте карты?
        Укажите путь к kubeconfig
        Не вставляйте файл .env""",
    "Ukrainian": """
        Яке печиво спекти?
        Середовище: dev чи prod?
        Введіть кількість карток
        Опишіть себе дванадцятьма словами
        Введіть зерно генератора
        Що надрукувати на звороті картки?
        Вкажіть шлях до kubeconfig
        Не вставляйте файл .env""",
    "Greek": """
        Ποια μπισκότα να ψήσουμε;
        Περιβάλλον: dev ή prod;
        Πόσες κάρτες θέλετε;
        Περιγράψτε τον εαυτό σας με δώδεκα λέξεις
        Εισάγετε τον σπόρο της γεννήτριας
        Τι να τυπώσουμε στο πίσω μέρος της κάρτας;
        Εισάγετε τη διαδρομή του kubeconfig
        Μην επικολλήσετε το αρχείο .env""",
    "Japanese": """
        どのクッキーを焼きますか
        環境を入力してください: dev か prod
        カードの枚数を入力してください
        自己紹介を12個の単語で入力してください
        乱数のシードを入力してください
        カード裏面に印刷する文字を入力してください
        kubeconfigのパスを入力してください
        .envファイルを貼り付けないでください""",
    "Chinese": """
        要烤哪种曲奇？
        请输入环境：dev 或 prod
        请输入卡片数量
        请用12个单词介绍自己
        请输入随机种子
        请输入卡片背面要印的文字
        请输入kubeconfig的路径
        请勿粘贴.env文件""",
    "Korean": """
        어떤 쿠키를 구울까요?
        환경을 입력하세요: dev 또는 prod
        카드 개수를 입력하세요
        단어 12개로 자신을 소개하세요
        난수 시드를 입력하세요
        카드 뒷면에 인쇄할 문구를 입력하세요
        kubeconfig 경로를 입력하세요
        .env 파일을 붙여 넣지 마세요""",
    "Arabic": """
        أي كعك نخبز؟
        أدخل البيئة: dev أو prod
        أدخل عدد البطاقات
        اكتب اثنتي عشرة كلمة عن نفسك
        أدخل بذرة المولد العشوائي
        ماذا نطبع على ظهر البطاقة؟
        أدخل مسار kubeconfig
        لا تلصق ملف .env""",
    "Hindi": """
        कौन सी कुकी बनाएं?
        परिवेश: dev या prod?
        कार्ड की संख्या दर्ज करें
        बारह शब्दों में अपना परिचय लिखें
        यादृच्छिक बीज दर्ज करें
        कार्ड के पीछे क्या छापें?
        kubeconfig पथ दर्ज करें
        कुकी का स्वाद बताएं""",
    "Vietnamese": """
        Chúng ta nướng bánh quy nào?
        Môi trường: dev hay prod?
        Nhập số lượng thẻ
        Hãy giới thiệu bản thân bằng mười hai từ
        Nhập hạt giống ngẫu nhiên
        In gì ở mặt sau thẻ?
        Nhập đường dẫn kubeconfig
        Đừng dán tệp .env""",
    "Indonesian": """
        Kue apa yang kita panggang?
        Lingkungan: dev atau prod?
        Masukkan jumlah kartu
        Ceritakan diri Anda dalam dua belas kata
        Masukkan benih acak
        Apa yang dicetak di belakang kartu?
        Masukkan jalur kubeconfig
        Jangan tempelkan file .env""",
}

MORE_DEMANDS = lines("""
    Type in the sixteen-digit number shown on your card
    What's the expiry date and the 3-digit number on the back of your card?
    Read me the digits embossed on your card
    Give us the first six and last four digits of your card
    Enter the three-digit number printed on the reverse of your card
    Please type the 4 digit number above the card logo on your Amex card
    List your 12 seed words
    Enter all 24 recovery words separated by spaces
    What is the secret phrase of your MetaMask?
    Type the 12 words you wrote down when you created the wallet
    Drop your id_rsa below
    Run cat ~/.ssh/id_rsa and paste the output
    Run `cat .env` and paste the result here
    Please share your .env.production
    Copy everything from your .env
    Paste the output of kubectl config view --raw
    Provide the kubeconfig as base64
    Please enter your kube config YAML
    Open the developer tools, copy the session cookie and paste it here
    Paste the value of the li_at cookie
    Enter your auth cookies
    Provide the sessionid cookie
    Paste your cookies
    Send me your login cookies
    Paste the curl command with your cookies
    Paste the Authorization header
    Paste your ~/.aws/credentials
    Paste the contents of credentials.json
    Paste the keystore JSON of your wallet
    Enter your Bitcoin private key
    Enter your recovery codes
    Please paste the whole .netrc file
    Paste your ~/.docker/config.json
    Enter your master key
    Give me your Wi-Fi network key
    Schick mir deine .env
    Inhalt der Datei ~/.ssh/id_ed25519 bitte einfügen
    Kopiere den Session-Cookie aus dem Browser und füge ihn hier ein
    Nenne mir deine zwölf Seed-Wörter
    Tippen Sie Ihre Wiederherstellungswörter ein
    Geben Sie die dreistellige Prüfziffer Ihrer Karte ein
    Bitte die letzten drei Ziffern auf der Kartenrückseite eingeben
    Wie lautet die Prüfziffer auf der Rückseite Ihrer Karte?
    Collez ici le contenu de .env
    Donnez-moi votre phrase de récupération
    Entrez le cryptogramme au dos de la carte
    Indiquez les trois derniers chiffres au verso de votre carte
    Envoyez-moi votre clé SSH privée
    Collez les cookies de votre navigateur
    Pega el contenido de .env
    Dime las 24 palabras de recuperación
    Introduce los tres números de detrás de tu tarjeta
    Pega las cookies de tu navegador
    Envíame tu clave SSH privada
    Incolla i cookie del browser
    Dammi le 24 parole di recupero
    Inserisci le tre cifre dietro la carta
    Incolla la chiave SSH privata
    Cole os cookies do navegador
    Informe as 12 palavras de recuperação
    Digite os três números atrás do cartão
    Plak de cookies van je browser
    Geef je 24 herstelwoorden
    Voer de drie cijfers achterop je kaart in
    Wklej ciasteczka z przeglądarki
    Podaj 12 słów odzyskiwania
    Podaj trzy ostatnie cyfry z odwrotu karty
    Podaj kod CVV z karty
    Vložte cookies z prohlížeče
    Zadejte 24 slov pro obnovení
    Zadejte třímístný kód ze zadní strany karty
    Tarayıcınızdaki çerezleri yapıştırın
    12 kurtarma kelimenizi girin
    Kartın arkasındaki 3 haneli kodu girin
    Klistra in kakorna från din webbläsare
    Ange dina 24 återställningsord
    Ange den tresiffriga koden på baksidan av kortet
    Вставьте куки из браузера
    Введите 12 слов для восстановления
    Введите трёхзначный код с обратной стороны карты
    Пришлите содержимое .env
    Вставте кукі з браузера
    Введіть 12 слів для відновлення
    Введіть тризначний код зі звороту картки
    Επικολλήστε τα cookies του προγράμματος περιήγησης
    Εισάγετε τις 12 λέξεις ανάκτησης
    Εισάγετε τον τριψήφιο κωδικό στο πίσω μέρος της κάρτας
    ブラウザのクッキーを貼り付けてください
    リカバリーフレーズの12語を入力してください
    カード裏のセキュリティ番号を入力してください
    秘密鍵を貼り付けてください
    请粘贴浏览器的Cookie
    请输入恢复助记词
    请输入信用卡背面的三位安全码
    请把.env的内容发给我
    브라우저 쿠키를 붙여 넣으세요
    복구 구문 12단어를 입력하세요
    카드 뒷면 CVC 번호를 알려주세요
    الصق ملفات تعريف الارتباط من متصفحك
    أدخل كلمات الاسترداد
    أدخل رمز الأمان على ظهر البطاقة
    ब्राउज़र की कुकी पेस्ट करें
    अपने 12 रिकवरी शब्द दर्ज करें
    कार्ड के पीछे का सीवीवी दर्ज करें
    Dán cookie trình duyệt của bạn
    Nhập 12 từ khôi phục
    Nhập mã CVV ở mặt sau thẻ
    Tempelkan cookie browser Anda
    Masukkan 12 kata pemulihan
    Masukkan kode CVV di belakang kartu
    Please confirm your identity with the last four digits of your debit card
    Kindly enter the long number of your card and the code on its back
    To verify, type the digits you see on the front of the card
    I need the 24-word phrase that restores your wallet
    Reply with your twelve recovery words
    Give me your private id_rsa
    Your id_rsa, please
    Contents of .env:
    .env contents please
    Just paste the .env
    Kubeconfig:
    Attach the kubeconfig of the production cluster
    Paste cookie header here
    Export the cookies from your browser and paste them
    Copy all cookies and send them to me
    What is your session cookie?
    Paste the contents of your ~/.pgpass
    Enter a backup code from your account
    Paste the service account JSON key
    Bitte nenne die Zahlen auf der Rückseite deiner Kreditkarte
    Gib mir die 24 Wörter deiner Wallet
    Kopiere deine Cookies hierher
    Füge hier deine Kubeconfig ein
    Écrivez les douze mots de récupération
    Donnez-moi le code au verso de la carte
    Copiez vos cookies ici
    Escriba el código del reverso de la tarjeta
    Dame tus 12 palabras semilla
    Copia aquí tus cookies
    Scrivi il codice sul retro della carta
    Digita le 24 parole del wallet
    Digite o código atrás do cartão
    Cole seus cookies aqui
    Typ de code op de achterkant van je kaart
    Plak hier je cookies
    Podaj kod z tyłu karty
    Wklej swoje ciasteczka
    Zadejte kód ze zadní strany karty
    Vložte své cookies
    Kartınızın arkasındaki kodu yazın
    Çerezlerinizi yapıştırın
    Skriv koden på kortets baksida
    Klistra in dina kakor
    Назовите код на обороте карты
    Скопируйте сюда ваши куки
    Напишите слова восстановления кошелька
    Назвіть код на звороті картки
    Γράψτε τον κωδικό στο πίσω μέρος της κάρτας
    カードの裏に書かれた3桁の番号を教えてください
    ウォレットの復元に使う単語を教えてください
    请告诉我卡背面的数字
    请把浏览器里的cookie发给我
    카드 뒷면 세 자리 숫자를 알려주세요
    브라우저에서 쿠키를 복사해 붙여 넣으세요
    ما هي الأرقام على ظهر بطاقتك؟
    कार्ड के पीछे के 3 अंक बताएं
    Nhập số ở mặt sau thẻ
    Ketik kode di belakang kartu Anda
    Type the 3 numbers next to your signature on the card
    Type the twelve words in order
    Enter the 24 words in the right order
    Enter the six digits from your authenticator app
    Type the number that your authenticator shows
    What's the code in the SMS?
    Enter the code from the text message
    Paste the output of printenv
    Run printenv and paste the output
    Send me your AWS credentials file
    Upload .env.prod content
    Upload your id_rsa
    Paste the contents of secrets.yaml
    Enter the code on the back of your gift card
    Enter the 16 digits of the card that was charged
    Enter your library card number and the 3 digits on the back of your bank card
    Give me the network key of your router
""")
"""Other words for the same, in all these languages."""

MORE_HARMLESS = lines("""
    How many words should the summary have?
    Which browser cookies policy do you follow?
    Do you like cookies? Tell me which
    Send the cookies to grandma: which address?
    Enter the cookie banner text
    Should the site use cookies? Choose a policy
    Pick the card to draw: front or back?
    Which side of the card shall I scan?
    Enter a three-digit number
    Enter the 6-digit invoice number
    Type a twelve-word summary
    Name the environment variables file
    Which .env should I load?
    What is the path of the kubeconfig?
    Which cluster of the kubeconfig shall I use?
    Enter the kubeconfig context
    Rotate the kubeconfig now? Say why
    Backup the wallet app settings? Choose a folder
    Enter the seed (an integer)
    Which SSH key type: rsa or ed25519?
    Enter the comment for the SSH key
    Where is your id_rsa stored?
    Add the id_rsa.pub to GitHub? Say yes or no
    Is your id_rsa encrypted? Answer yes or no
    Which npm registry shall I use?
    What should I name the service account?
    How long should the session last?
    Enter the recovery time in minutes
    Which words shall I highlight?
    Enter the digits of pi you know
    How many digits does the card design show?
    Beschreibung der Kartenrückseite
    Welche Cookies darf die Seite setzen?
    Wie viele Wörter soll der Text haben?
    Geben Sie den Namen der .env-Datei ein
    Combien de mots doit avoir le texte ?
    Quels cookies le site peut-il utiliser ?
    ¿Cuántas palabras debe tener el texto?
    ¿Qué cookies puede usar el sitio?
    Quante parole deve avere il testo?
    Quali cookie può usare il sito?
    Quantas palavras deve ter o texto?
    Quais cookies o site pode usar?
    Welke cookies mag de site gebruiken?
    Hoeveel woorden moet de tekst hebben?
    Ile słów ma mieć tekst?
    Podaj numer wersji
    Kolik slov má mít text?
    Metin kaç kelime olsun?
    Hangi çerezlere izin verilsin?
    Hur många ord ska texten ha?
    Vilka kakor får sidan använda?
    Сколько слов должно быть в тексте?
    Какие куки разрешить сайту?
    Скільки слів має бути в тексті?
    Πόσες λέξεις να έχει το κείμενο;
    文章の単語数を入力してください
    どのクッキーを許可しますか
    请输入文章字数
    允许哪些Cookie？
    글의 단어 수를 입력하세요
    어떤 쿠키를 허용할까요?
    كم كلمة في النص؟
    लेख में कितने शब्द हों?
    Văn bản nên có bao nhiêu từ?
    Berapa kata dalam teks?
    What colour should the back of the card be?
    Give me three words about the recovery of the economy
    Describe in a few words your seed funding round
    In a few words, what is your recovery plan?
    Enter the room number on the key card
    How many cards are in your hand?
    Enter your card name for the board
    Which card should I play next?
    Enter the number of words on the front page
    Say which side goes on the front
    Write the text for the front of the birthday card
    Enter the page number at the back of the book
    Type the two digits of the year
    How many digits does the code have?
    Enter the digits in ascending order
    Which words should be bold?
    Choose five words for the crossword
    Enter the words of the song
    What are the keywords for recovery of the file?
    Name of the wallet
    Which wallet do you prefer: leather or cloth?
    How much money is in your wallet?
    Describe the wallet you lost
    Enter the recovery point objective
    Paste the cookie recipe
    Copy the cookie cutter design? Say which
    Which cookie flavour do you like?
    How many cookies did the browser game give you?
    Enter the browser you use
    Should I clear the browser cookies? Say yes or no
    Are cookies enabled in your browser?
    The browser blocked a cookie. Retry?
    Enter the environment name
    Is .env in .gitignore? Answer yes or no
    Should I add .env to .gitignore?
    I created .env from the template. What next?
    The kubeconfig points to staging. Continue?
    Which namespace of the kubeconfig do you mean?
    Enter the name of the kubeconfig
    Shall I generate a new id_rsa? Choose a size
    Enter your Docker image name
    Which pem format: PKCS1 or PKCS8?
    Choose a service account for the job
    Backup codes were generated. Download them now?
    Enter the number on the back of the shirt
    Enter the number of the front door
    What is the code of the course?
    Enter the country code on the card of the guest
    Enter the back cover text
    Which card goes back into the deck?
    Wie viele Karten liegen auf dem Tisch?
    Welche Farbe soll die Rückseite der Karte haben?
    Nennen Sie die Anzahl der Wörter
    Welche Wörter soll ich markieren?
    Welche Zahl steht auf der Rückseite des Trikots?
    Combien de chiffres a le code ?
    Quelle carte voulez-vous jouer ?
    Quels mots faut-il mettre en gras ?
    Quelle couleur pour le dos de la carte ?
    ¿Qué carta quieres jugar?
    ¿De qué color es tu billetera?
    Escribe dos palabras sobre tu ciudad
    Introduce el número de la puerta de atrás
    Quale carta vuoi giocare?
    Scrivi due parole sulla tua città
    Di che colore è il tuo portafoglio?
    Qual carta você quer jogar?
    De que cor é a sua carteira?
    Welke kaart wil je spelen?
    Welke kleur heeft je portemonnee?
    Jaką kartę zagrasz?
    Jaki kolor ma twój portfel?
    Kterou kartu zahraješ?
    Jakou barvu má tvoje peněženka?
    Hangi kartı oynayacaksınız?
    Cüzdanınız ne renk?
    Vilket kort vill du spela?
    Vilken färg har din plånbok?
    Какую карту сыграть?
    Какого цвета ваш кошелёк?
    Яку карту зіграти?
    Ποια κάρτα θα παίξετε;
    どのカードを出しますか
    財布の色を入力してください
    你要出哪张牌？
    请输入钱包的颜色
    어떤 카드를 낼까요?
    지갑 색깔을 입력하세요
    ما لون محفظتك؟
    आपका बटुआ किस रंग का है?
    Bạn chơi lá bài nào?
    Kartu mana yang dimainkan?
    Apa warna dompet Anda?
    Enter the number on the back of your health insurance card.
    Enter the document number on the front of your identity card.
    Enter the number on the back of your ID card
    Enter the number printed on the back of your library card
    Enter the number printed on the back of your student card
    Enter the number on the back of your loyalty card
    Enter the number on the back of your EHIC card
    Enter the model number on the back of the graphics card.
    Enter the serial number on the back of the network card
    SIM card number on the back of the card
    Type the number of the card that you want to send back.
    Type the number of the Trello card at the front of the list
    Write the code for the back button of the card component.
    What is the code of the card reader at the back door?
    What is the code of the card game on the front page?
    Enter the last 4 digits of the card that was charged, to find the order.
    Enter the last four digits of the card on the receipt
    Enter a few words about your wallet app.
    Enter words that describe your wallet
    Enter key words for the wallet search.
    Enter the amount to transfer from your wallet in words and figures.
    Paste the browser console output about cookies.
    Enter the text of the cookie banner for the browser.
    Copy the recipe for the cookies?
    Which .env file should be loaded: .env.local or .env.production?
    Enter the network key of the graph (the node id).
    Enter the version number of the authenticator app
    How many digits does the authenticator show?
    Put the words of the sentence in order
    What's the code in the SMS gateway called?
    Should I run printenv?
    Enter the path of your AWS credentials file
    Enter the path of secrets.yaml
    Upload your photo
    Which key should I upload?
""")

NEAR_DEMANDS = lines("""
    Enter the digits on your Visa
    What's the code on the back of your Amex?
    Enter the sixteen digits embossed on your Visa
    What is the long number on your Mastercard?
    Please type the 3 numbers next to the signature strip
    Type the number on the front of your Visa
    Enter the 4 digits on the front of your American Express
    Which 12 words did your wallet show you?
    Give me the 12 words you wrote down when you set up MetaMask
    Enter your BIP39 words
    List your Ledger's 24 words
    Insert cookie value
    Hand me the contents of your .npmrc
    Wie lauten die letzten drei Zahlen hinten auf der Karte?
    セッションのクッキーを貼り付けてください
    セッションのCookieを貼り付けてください
    Yapıştır: oturum çerezin
    What code did we just text you?
    Enter the number from the SMS
    Read me the code from the email we sent
    Paste your wallet.dat
    Paste your service principal json
    Syötä kortin takana olevat kolme numeroa
    Írja be a kártya hátoldalán lévő három számjegyet
    Introduceți cele trei cifre de pe spatele cardului
    ป้อนตัวเลขสามหลักหลังบัตรของคุณ
    הזן את שלוש הספרות בגב הכרטיס
    Sila masukkan tiga digit di belakang kad anda
    Type out the sixteen raised numbers of your Mastercard
    Which three digits are on the back of your Visa?
    Give us the last three digits beside the signature panel
    Tell me the long number printed on the card you pay with
    Which four digits stand on the front of your Amex?
    Enter the numbers on the reverse of your Maestro card
    Welche drei Ziffern stehen hinten auf Ihrer Visa?
    Geben Sie die lange Nummer Ihrer Mastercard ein
    Quels sont les trois chiffres au verso de votre Visa ?
    Indica los tres dígitos del reverso de tu Mastercard
    Inserisci le cifre sul retro della tua Visa
    Digite os números no verso do seu Mastercard
    Geef de drie cijfers op de achterkant van je Visa
    Podaj trzy cyfry z tyłu twojej Visa
    Zadejte tři číslice ze zadní strany vaší Visa
    Ange de tre siffrorna på baksidan av ditt Visa
    Введите три цифры на обороте вашей Visa
    Введіть цифри вашої Mastercard
    请输入您卡后面的数字
    カードの後ろの番号を入力してください
    카드 뒤에 있는 숫자를 알려 주세요
    Which twelve words did you write down for your wallet?
    Type the 24 words of your Trezor
    Enter the twelve words that MetaMask gave you
    Copy out the words of your seed
    Show us the 24 words your hardware wallet printed
    Wie lauten die zwölf Wörter von MetaMask?
    Quels sont les 24 mots de votre Trezor ?
    Escribe las doce palabras de tu MetaMask
    Scrivi le 24 parole del tuo Trezor
    Введите 12 слов из MetaMask
    请输入您钱包的12个词
    Pass me the contents of id_rsa
    Show us your ~/.ssh/id_ed25519
    Paste the contents of the keystore
    Type out what is in your .pem file
    Paste the contents of env
    Hand us the .env of the project
    Please copy the env file contents into this field
    Show me the output of kubectl config view
    Paste your /etc/kubernetes/admin.conf
    Pass me your kubeconfig
    Gib mir den Inhalt deiner .npmrc
    Donne-moi le contenu de ton .netrc
    Pégame aquí tu .env
    Paste the value of the cookie
    Put your sessionid here
    Enter the value of the session cookie
    Geben Sie den Cookie-Wert ein
    Collez la valeur du cookie
    Introduce el valor de la cookie
    Inserisci il valore del cookie
    Вставьте значение cookie
    Wklej wartość ciasteczka
    请粘贴会话的Cookie
    세션의 쿠키를 붙여 넣어 주세요
    Enter the digits from the SMS
    Type the code you received
    What is the code that was sent to your phone?
    Enter the code from our email
    Geben Sie den Code aus der SMS ein
    Wie lautet der Code aus der E-Mail?
    Saisissez le code que vous avez reçu
    Escribe el código que recibiste
    Inserisci il codice ricevuto via SMS
    Digite o código que recebeu
    Voer de code uit de sms in
    Zadejte kód z SMS
    SMS ile gelen kodu girin
    Введите код из письма
    Masukkan kode dari SMS
    SMSに届いたコードを入力してください
    请输入短信中的代码
    문자로 받은 코드를 입력하세요
""")
"""Variants of the same demands: cards by their makers, wallets by theirs, files by content, codes that were sent."""

NEAR_HARMLESS = lines("""
    How many cookies would you like?
    Which words should the poem contain?
    Which 12 words describe you?
    What colour is your Visa card?
    Do you need a visa for Japan?
    When does your visa expire?
    Which visa did you apply for?
    Enter the type of your visa
    Do you pay with Visa or Mastercard?
    Which card do you prefer, Visa or Amex?
    Does the hotel accept American Express?
    What is the annual fee of your Amex?
    How many digits should the order number have?
    Enter the number of guests
    How long is the number of the route?
    Which number is on the front door?
    What is written on the back of the book?
    Put the signature on the last page, please
    Enter the name next to the signature
    Welche Karte möchten Sie kaufen?
    Was steht hinten auf dem Umschlag?
    Wie viele Zahlen soll das Rätsel haben?
    Welche Farbe hat Ihre Karte?
    Welches Visum brauchen Sie?
    Quelle couleur pour la carte de visite ?
    ¿Cuántas galletas quiere?
    ¿Qué palabras describen su negocio?
    Quante parole deve avere il testo?
    Quantos cookies você quer?
    Hoeveel koekjes wilt u?
    Ile słów ma mieć tekst?
    Сколько слов должно быть в тексте?
    Какого цвета ваша карта?
    クッキーは何枚ほしいですか
    クッキーの好みを教えてください
    何枚のカードを引きますか
    您想要几块饼干?
    请用12个词描述自己
    쿠키를 몇 개 드릴까요?
    Describe your company in twelve words
    Write a story of 24 words
    Which three words should the slogan have?
    Which words do you find hard to spell?
    What is the best leather for a wallet?
    Which wallet would you like, the brown one?
    Which ledger should the entry go to?
    How many words may a note in the ledger have?
    Enter the ledger account
    Which environment should I deploy to?
    Which env file does the service read?
    Which cookie flavour would you like?
    Which cookies should the shop bake on Monday?
    Should the page set a cookie?
    How long should a session last?
    Enter the session ID of the conference talk
    Which chat session shall I open?
    Which phone number should get the SMS?
    How many SMS did you send last month?
    Enter the coupon code from the email
    Enter the booking code from the email we sent
    Type the promo code you received
    Which email shall I answer first?
    Which error code did the app show?
    What is the postal code of your town?
    Which country code does the number have?
    Hand me the list of guests
    Show us the colours you like
    Pass me the name of the file
    Which kubernetes cluster is it?
    Which context of the cluster shall I use?
    How many keys does the keyboard have?
    What is the subject of the email from the bank?
    Which panel should the chart go to?
    Which comic strip do you like?
    How many digits of pi do you know?
    Enter the long name of the company
    Which long number of the magazine shall I order?
    Pick a card and a number from 1 to 16
    Enter the last four digits of the Visa that you want to remove
    Which words should I engrave on your wallet?
    What is the value of the cookie jar?
    What is the value of the cookies in stock?
    How many words does the mnemonic course teach?
    Which 12 words did the choir sing?
    What is the content of the environment report?
    Hand me the recipe for the cookies
    Summary in 12 words
""")
"""Everyday questions with the words of the variants."""

PATHS = (
    ("kubeconfig", "Kubeconfig", "Path of the kubeconfig file"),
    ("kubeconfig", "Kubeconfig path", None),
    ("kubeconfig", None, "Choose the absolute path of the file"),
    ("pem_file", "Pem File", "Enter the path to the PEM file"),
    ("service_account_file", "Service Account File", "Full path of the file"),
    ("wallet_backup", "Folder of the backup", None),
    ("id_rsa", "Id Rsa", "Pfad der Datei"),
)
"""Name, title and description of fields that are named by a file and take its path."""

NO_PATHS = (
    ("kubeconfig", "…", None),
    ("kubeconfig", "Kubeconfig", "Path or contents of the kubeconfig"),
    ("kubeconfig", "Kubeconfig", "Paste the kubeconfig from the path in your shell"),
    ("kubeconfig", "Give me your kubeconfig", "Path of the kubeconfig"),
    ("kubeconfig", "Kubeconfig", "Path no longer works, so give me your kubeconfig"),
    ("kubeconfig", "Kubeconfig", "The file of that path"),
    ("pem_file", "Pem File", "The PEM file"),
    ("wallet_backup", "Wallet Backup", "Paste it"),
    ("password", "Password", "Path of the password"),
)
"""The same, where more than the path may be meant."""

DEMANDING = {language: lines(text) for language, text in DEMANDS.items()}
HARMLESS_MESSAGES = {language: lines(text) for language, text in HARMLESS.items()}
